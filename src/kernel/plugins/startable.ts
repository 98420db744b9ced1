// Starting a file of this folder in another process or thread, compiled or not. From dist/ the file is JavaScript and simply
// runs; from src/ it is TypeScript, which jiti has to run, and the code that tells it so is what is started.
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file to start: its path, or code (CommonJS) that runs it. */
export type Startable = { file: string } | { code: string }

/** The file of this folder with that name, as it can be started. */
export function startable(name: string): Startable {
  const extension = extname(import.meta.url)
  const file = fileURLToPath(new URL(`./${name}${extension}`, import.meta.url))
  if (extension !== '.ts') return { file }
  const jiti = createRequire(import.meta.url).resolve('jiti')
  return {
    code: `require(${JSON.stringify(jiti)}).createJiti(${JSON.stringify(file)}).import(${JSON.stringify(file)})`,
  }
}
