// The compiled and linked copy of the sources below .tmp/, laid out as the package is. What tests start in processes and threads runs from
// there, as it runs from dist/ for users: a start costs what it costs them, and needs nothing that they do not have.
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = join(root, '.tmp', 'compiled') // below the root: packages are found from there

/** Where the compiled copy of a source file lies, by its path or address. */
export function compiledUrl(source: string | URL): URL {
  const file = typeof source === 'string' ? source : fileURLToPath(source)
  return pathToFileURL(join(copy, relative(root, file).replace(/\.ts$/, '.js')))
}
