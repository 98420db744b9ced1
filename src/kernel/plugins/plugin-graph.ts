// What a plugin file imports, and the hash over all of it: files of its project or package and npm packages, by their content.
// Nothing is run.
//
// Imports are read off the transpiled text, where every form of import (type-only ones are gone by then, as they are at run
// time) has become a call with a literal. A literal in a comment or text that happens to look like such a call can only add a
// file to the hash, never hide one.
import { readFileSync, realpathSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, extname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti, JitiOptions } from 'jiti'
import type { FileStamp } from '../../contracts/index.ts'
import { hashOf, sha256 } from '../hash.ts'
import { hostVersion, isHostModule } from './host-modules.ts'
import { packageHashes, readManifest } from './package-hashes.ts'

export type PluginGraph = {
  /** Independent of where the project stands; changes with every file and package version below. */
  hash: string
  /** The plugin file and everything of its project or package that it imports, absolute. */
  files: string[]
  /** Their text, as the hash counts it. */
  texts: ReadonlyMap<string, string>
  /** Modules that no file was found for, as written. The host's own are among them where the project has none. */
  missing: string[]
}

/** Reads `file` and what it imports, on and on. `root` is the folder of its project or package. */
export function readPluginGraph(
  file: string,
  { root, cacheDir }: { root: string; cacheDir?: string | undefined },
): PluginGraph {
  const contents: Record<string, string> = {}
  const texts = new Map<string, string>()
  const packages = new Set<string>()
  const folders = new Set<string>()
  const missing = new Set<string>()
  const files = [file]
  for (const each of files) {
    const bytes = readFileSync(each)
    texts.set(each, bytes.toString('utf8'))
    contents[relative(root, each).split(sep).join('/')] = sha256(bytes)
    for (const specifier of importsOf(each, bytes, cacheDir)) {
      if (isBuiltin(specifier)) continue
      if (isHostModule(specifier)) packages.add(`evsys@${hostVersion()}`)
      const target = isHostModule(specifier) ? undefined : resolveFrom(each, specifier)
      const folder = target === undefined ? undefined : packageOf(target, root)
      if (target === undefined) missing.add(specifier)
      else if (folder !== undefined) folders.add(folder)
      else if (!files.includes(target)) files.push(target)
    }
  }
  for (const each of packageHashes(folders)) packages.add(each)
  return {
    hash: hashOf({ entry: relative(root, file).split(sep).join('/'), files: contents, packages: [...packages].sort() }),
    files,
    texts,
    missing: [...missing],
  }
}

const call = /\b(?:jitiImport|jitiESMResolve|require|import)\s*\(\s*(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g

function importsOf(file: string, bytes: Uint8Array, cacheDir: string | undefined): string[] {
  if (!/^\.[cm]?[jt]sx?$/.test(extname(file))) return []
  // The very call that loading makes, so that it finds the result in the cache.
  const code = createPluginJiti(file, cacheDir === undefined ? {} : { cacheDir }).transform({
    filename: file,
    source: new TextDecoder().decode(bytes),
    ts: /\.[cm]?tsx?$/.test(file),
    async: true,
    jsx: false,
  })
  return [...new Set(Array.from(code.matchAll(call), ([, , specifier = '']) => specifier))]
}

function resolveFrom(file: string, specifier: string): string | undefined {
  try {
    const url = createPluginJiti(file, {}).esmResolve(specifier, { parentURL: pathToFileURL(file), try: true })
    return url === undefined ? undefined : realpathSync(fileURLToPath(url))
  } catch {
    return undefined // a malformed specifier: loading will say so
  }
}

/** Folder of the npm package that a file belongs to; undefined for files of the project or package itself. */
function packageOf(file: string, root: string): string | undefined {
  const within = relative(root, file)
  const isInside = !within.startsWith(`..${sep}`)
  const path = isInside ? `${sep}${within}` : file
  if (!path.includes(`${sep}node_modules${sep}`)) return undefined
  for (let folder = dirname(file); folder !== root && dirname(folder) !== folder; folder = dirname(folder)) {
    if (readManifest(folder) !== undefined) return folder
  }
  return undefined
}

// Whether plugin files are still what a worker loaded: by the time and size that the file system keeps, since this is asked
// before every run. The folder where plugins are found counts too: a file that came or went changes it.
/** The stamps of plugin files and of the project's plugin folder, as they are now. */
export function stampPlugins(projectDir: string, files: readonly string[]): Promise<FileStamp[]> {
  return Promise.all([join(projectDir, 'src', 'plugins'), ...files].map(stampOf))
}

export async function areUnchanged(stamps: readonly FileStamp[]): Promise<boolean> {
  const now = await Promise.all(stamps.map(({ file }) => stampOf(file)))
  return stamps.every(({ stamp }, i) => now[i]?.stamp === stamp)
}

async function stampOf(file: string): Promise<FileStamp> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true })
    return { file, stamp: `${mtimeNs}.${size}.${ino}` }
  } catch {
    return { file, stamp: 'absent' }
  }
}

// How plugin files are turned into running code: jiti, set up so that every file of a project or package goes through it, also
// plain JavaScript. Node would load that by itself, but then `evsys/plugin` would be looked up in the project's node_modules
// and not be the host.
type PluginJitiOptions = {
  /** Folder for transpiled files; absent: none are kept. */
  cacheDir?: string | undefined
  /** Modules that are handed over as they are, by the name that plugins import. */
  modules?: Readonly<Record<string, unknown>> | undefined
  /** Whether a file belongs to the plugins; what does not (an npm package) is left to Node. */
  isOwn?: ((file: string) => boolean) | undefined
  /** Called with every file of the plugins and its text before it is run; throws where it must not be. */
  admit?: ((file: string, text: string) => void) | undefined
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
export function createPluginJiti(file: string, { cacheDir, modules = {}, isOwn, admit }: PluginJitiOptions): Jiti {
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
    transform(source) {
      admit?.(String(source.filename), source.source)
      return transpiled(join(dist, 'babel.cjs'), source)
    },
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

type Transpile = NonNullable<JitiOptions['transform']>

// What this process has transpiled: a file is read for its imports before it is run, and where no compiled code is taken from disk
// that would be twice.
const transpiledBefore = new Map<string, ReturnType<Transpile>>()

function transpiled(babel: string, source: Parameters<Transpile>[0]): ReturnType<Transpile> {
  const key = JSON.stringify(source)
  const before = transpiledBefore.get(key)
  if (before !== undefined) return before
  const transpile: Transpile = require(babel) // 1.5 MB: only when something must be transpiled
  const result = transpile(source)
  transpiledBefore.set(key, result)
  return result
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
