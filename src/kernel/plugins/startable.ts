// Starting a file of this folder in another process or thread, compiled or not. From dist/ the file is JavaScript and simply
// runs; from src/ it is TypeScript, which needs a loader, and the code that sets it up is what is started.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceLoader } from '../processes/source-loader.ts'

/** A file to start: its path, or code (CommonJS) that runs it. */
export type Startable = { file: string } | { code: string }

/** The file of this folder with that name, as it can be started. */
export function startable(name: string): Startable {
  const extension = extname(import.meta.url)
  const url = new URL(`./${name}${extension}`, import.meta.url)
  if (extension !== '.ts') return { file: fileURLToPath(url) }
  return { code: `import(${JSON.stringify(sourceLoader())}).then(() => import(${JSON.stringify(url.href)}))` }
}
