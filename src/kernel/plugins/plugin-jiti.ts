// How plugin files are turned into running code: jiti, set up so that every file of a project or package goes through it, also
// plain JavaScript. Node would load that by itself, but then `evsys/plugin` would be looked up in the project's node_modules
// and not be the host.
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti, JitiOptions } from 'jiti'

export type PluginJitiOptions = {
  /** Folder for transpiled files; absent: none are kept. */
  cacheDir?: string
  /** Modules that are handed over as they are, by the name that plugins import. */
  modules?: Readonly<Record<string, unknown>>
  /** Whether a file belongs to the plugins; what does not (an npm package) is left to Node. */
  isOwn?: (file: string) => boolean
}

// The public createJiti takes no `nativeImport`, the one place where plain JavaScript can be kept from Node. The version of
// jiti is pinned, and the tests of this folder fail if this entry changes.
type CreateJiti = (
  file: string,
  options: JitiOptions,
  platform: {
    onError(error: unknown): never
    nativeImport(id: string | URL): Promise<unknown>
    createRequire(file: string): unknown
  },
) => Jiti

const require = createRequire(import.meta.url)

/** A jiti that resolves and loads as seen from `file`. */
export function createPluginJiti(file: string, { cacheDir, modules = {}, isOwn }: PluginJitiOptions): Jiti {
  const dist = join(dirname(require.resolve('jiti/package.json')), 'dist')
  const createJiti: CreateJiti = require(join(dist, 'jiti.cjs'))
  const refuse = (id: string) => {
    const isCode = /\.[cm]?[jt]sx?$/.test(id)
    if (isCode && isOwn?.(id)) throw new Error('jiti transpiles what it is refused')
  }
  const options: JitiOptions = {
    ...settings,
    fsCache: cacheDir ?? false,
    virtualModules: { ...modules },
    transform: (source) => require(join(dist, 'babel.cjs'))(source), // 1.5 MB: only when something must be transpiled
  }
  return createJiti(file, options, {
    onError(error) {
      throw error
    },
    async nativeImport(id) {
      const path = String(id).startsWith('file:') ? fileURLToPath(id) : String(id)
      refuse(path)
      return await import(isAbsolute(path) ? pathToFileURL(path).href : path)
    },
    createRequire(from) {
      const native = createRequire(from)
      const guarded = (id: string): unknown => {
        refuse(id)
        return native(id)
      }
      const { resolve, cache, main, extensions } = native
      return Object.assign(guarded, { resolve, cache, main, extensions })
    },
  })
}

// All that jiti would otherwise take from the environment.
const settings: JitiOptions = {
  rebuildFsCache: false,
  moduleCache: true,
  debug: false,
  sourceMaps: false,
  interopDefault: true,
  extensions: ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
  alias: {},
  nativeModules: [],
  transformModules: [],
  tryNative: false,
  esmEvalTempFile: false,
  jsx: false,
  tsconfigPaths: false,
}
