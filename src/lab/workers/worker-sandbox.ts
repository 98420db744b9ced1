// What run workers see of this machine: the code and data of the project, read-only, and of `.evsys` what data is made of. Neither the record
// nor other runs nor benchmarks are there, and no process but their own. At the level `process` nothing is shut in.
import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Level, Mount } from '../../contracts/index.ts'
import { fileError, hubCacheFolder, type PluginReference, systemCode } from '../../kernel/index.ts'
import { cacheFolder } from '../../models/index.ts'
import type { FoundLevel, ProcessLimits, ProcessSandboxOptions } from '../../sandbox/index.ts'

/** How the workers of an experiment are shut in. */
export interface WorkerSandbox {
  readonly level: Extract<Level, 'bubblewrap' | 'chroot'>
  readonly mounts: readonly Mount[]
  readonly hidden: readonly string[]
  readonly shownIn: string
  /** Folders outside of those of runs that can be written. */
  readonly written: readonly string[]
  readonly network: boolean
  /** Variables of the process beside those that every process gets. */
  readonly env: Readonly<Record<string, string>>
}

/** How the runs of an experiment are shut in. */
export interface ShutIn extends FoundLevel {
  /** Absent at the level `process`. */
  readonly sandbox: WorkerSandbox | undefined
  /** Why they have the network; empty: they have none of it. */
  readonly network: readonly string[]
}

export interface WorkerSandboxOptions {
  readonly level: WorkerSandbox['level']
  readonly projectDir: string
  /** Folder of the folders of experiments. */
  readonly outputRoot: string
  /** What recipe code must not see. */
  readonly hidden: readonly string[]
  readonly runs: readonly unknown[]
  readonly plugins: readonly PluginReference[]
  readonly network: boolean
  /** Further files and folders that they may read. */
  readonly read: readonly string[]
  /** Folders that they may write besides. One that holds the project, or lies in `.evsys`, stays as it is. */
  readonly write: readonly string[]
}

/** Parts of `.evsys` that runs read. */
const readParts = ['cache', 'datasets', 'blobs']

export function workerSandbox(options: WorkerSandboxOptions): WorkerSandbox {
  const { level, projectDir, outputRoot, hidden, runs, plugins, network, read, write } = options
  const home = join(projectDir, '.evsys')
  mkdirSync(join(home, 'cache'), { recursive: true })
  const caches = { EVSYS_CACHE: cacheFolder(), HF_HUB_CACHE: hubCacheFolder() }
  const isTrusted = isOurCode(options)
  const shown = [
    ...['/opt', ...programFolders()],
    ...Object.values(caches),
    packageRoot,
    ...linksIn(packageRoot),
    ...around(packageRoot),
    ...around(projectDir),
    ...plugins.flatMap(({ spec, from }) => pluginFolder(spec, from)),
    ...named(runs),
    ...read,
  ]
  const wanted = [...new Set(shown.filter((path) => existsSync(path)).flatMap((path) => [path, realpathSync(path)]))]
  const mounts: Mount[] = [...wanted.filter((path) => !isWithin(path, projectDir) && !isSystem(path)), projectDir].map(
    (path) => ({ source: path, target: path }),
  )
  for (const name of readParts) {
    const path = join(home, name)
    // Rows and tokens are kept for later runs by workers in which nothing of the project runs; the others keep their own.
    if (existsSync(path)) mounts.push({ source: path, target: path, writable: name === 'cache' && isTrusted })
  }
  for (const path of wanted.filter((each) => isWithin(each, home))) mounts.push({ source: path, target: path })
  const written = write.filter((path) => !isWithin(projectDir, path) && !isWithin(path, home))
  for (const path of written) mounts.push({ source: path, target: path, writable: true })
  return {
    level,
    mounts,
    written,
    hidden: [home, ...hidden, join(packageRoot, '.git'), join(packageRoot, '.evsys')],
    shownIn: outputRoot,
    network,
    env: { ...caches, EVSYS_SHUT_IN: '1', ...(isTrusted ? {} : { EVSYS_OWN_CACHE: '/tmp/cache' }) },
  }
}

/** Whether folders of runs can be shown. Below `.evsys`, which the worker sees a folder of ours in place of, they always can. */
export function hasPlace({ shownIn, hidden, written }: WorkerSandbox): boolean {
  return (isWithinAny(shownIn, hidden) || existsSync(shownIn)) && written.every((path) => existsSync(path))
}

/** Makes the folder in which those of runs are shown, and others that are written. */
export function makePlace({ shownIn, hidden, written }: WorkerSandbox): void {
  if (!isWithinAny(shownIn, hidden)) makeFolder(shownIn)
  for (const path of written) makeFolder(path)
}

// The recursive way of Node never returns below /proc.
function makeFolder(path: string): void {
  if (existsSync(path) || dirname(path) === path) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST') throw fileError('make', path, cause)
  }
}

export function sandboxOptions(
  { level, mounts, hidden, shownIn, network }: WorkerSandbox,
  limits: ProcessLimits,
): ProcessSandboxOptions {
  return { level, mounts, hidden, shownIn, network, limits }
}

const packageRoot = packageOf(dirname(fileURLToPath(import.meta.url)))

/** The nearest folder above that is a package. */
function packageOf(folder: string): string {
  return [folder, ...folderChain(folder)].find((each) => existsSync(join(each, 'package.json'))) ?? folder
}

/** Parts of a package that lie elsewhere. */
function linksIn(folder: string): string[] {
  const links = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())
  const paths = links.map(({ name }) => join(folder, name)).filter((path) => existsSync(path))
  return paths.map((path) => realpathSync(path))
}

const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/proc', '/sys', '/dev']

function isSystem(path: string): boolean {
  return path === '/' || path === '/tmp' || isWithinAny(path, systemFolders)
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)
}

function isWithinAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isWithin(path, folder))
}

/** Node, where it lies outside of the folders of the system. */
function programFolders(): string[] {
  const bin = dirname(process.execPath)
  return isSystem(bin) ? [] : [bin, join(dirname(bin), 'lib', 'node_modules')]
}

/** What Node looks for above a package. */
function around(projectDir: string): string[] {
  return folderChain(dirname(projectDir)).flatMap((folder) =>
    ['node_modules', 'package.json', 'tsconfig.json'].map((name) => join(folder, name)),
  )
}

function folderChain(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...folderChain(above)]
}

function pluginFolder(spec: string, from: string): string[] {
  if (!spec.startsWith('.') && !isAbsolute(spec)) return []
  return [dirname(resolve(dirname(from), spec))]
}

/** Files and folders that an experiment names anywhere: data, models, weights of other runs. */
function named(value: unknown): string[] {
  if (typeof value === 'string') {
    const path = value.startsWith('mock:///') ? dirname(decodeURI(value.slice('mock://'.length))) : value
    return isAbsolute(path) && !path.includes('\0') && !isSystem(path) ? [path] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(named)
}

const codeFile = /\.(?:[cm]?[jt]s|py|sh)(?:#.*)?$/

/** Whether nothing but code of evsys runs in the workers. */
function isOurCode({ plugins, projectDir, runs }: WorkerSandboxOptions): boolean {
  const names = runs.flatMap(strings)
  return (
    plugins.length === 0 &&
    !existsSync(join(projectDir, 'src', 'plugins')) &&
    !names.some((name) => codeFile.test(name))
  )
}

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}
