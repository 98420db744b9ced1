import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What makes Node run our TypeScript sources, when they were not compiled: the value of `--import`. */
export function sourceLoader(): string {
  const jiti = dirname(createRequire(import.meta.url).resolve('jiti/package.json'))
  return pathToFileURL(join(jiti, 'lib', 'jiti-register.mjs')).href
}
