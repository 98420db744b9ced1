// Makes the sources that vitest runs start their processes and threads from the compiled copy. A module that starts a script
// beside itself names it by its own extension, `./worker-child${extname(import.meta.url)}`: here it gets the address of its
// compiled self for its own, and all the rest follows as in the package.
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import { compiledUrl } from './compiled-url.ts'

const src = fileURLToPath(new URL('../src/', import.meta.url))
// What plugins import of evsys is loaded into this process, where the sources run.
const loads = `${src}kernel/plugins/host-modules.ts`

export function startCompiled(): Plugin {
  return {
    name: 'start-compiled',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(src) || id === loads || !code.includes('extname(import.meta.url)')) return
      return { code: code.replaceAll('import.meta.url', JSON.stringify(compiledUrl(id).href)), map: null }
    },
  }
}
