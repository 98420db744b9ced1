// What a process with code of a project sees of this machine: the project and the packages around it, read-only, Node, and what it is shown
// besides. Of `.evsys` it sees what is named alone: neither the record nor runs nor benchmarks are there.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mount } from '../contracts/index.ts'
import { killTree, type PluginReference, type ProcessPlace, pluginCacheDir } from '../kernel/index.ts'
import { namesIn } from './proc-files.ts'
import type { FoundLevel } from './process-level.ts'
import { openProcessSandbox, type ProcessLevel, type ProcessLimits } from './process-sandbox.ts'

interface ProjectView {
  readonly mounts: readonly Mount[]
  readonly hidden: readonly string[]
}

interface ProjectViewOptions {
  /** Absent: the folders of `plugins` alone are shown. */
  readonly projectDir?: string | undefined
  readonly plugins?: readonly Pick<PluginReference, 'spec' | 'from'>[] | undefined
  /** What it must not see. */
  readonly hidden?: readonly string[] | undefined
  /** Further files and folders that it may read. What is not there is left out. */
  readonly read?: readonly string[] | undefined
  /** Parts of `.evsys` that it sees, by name; true: it may write them. */
  readonly parts?: Readonly<Record<string, boolean>> | undefined
  /** Folders that it may write. One that holds the project, or lies in `.evsys`, stays as it is. */
  readonly write?: readonly string[] | undefined
}

export function projectView(options: ProjectViewOptions): ProjectView {
  const { projectDir, plugins = [], hidden = [], read = [], parts = {}, write = [] } = options
  // By the path that it is named by, and the one that links lead to.
  const projects = projectDir === undefined ? [] : [...new Set([projectDir, realpathSync(projectDir)])]
  const homes = projects.map((folder) => join(folder, '.evsys'))
  const shown = [
    ...['/opt', ...programFolders()],
    packageRoot,
    ...linksIn(packageRoot),
    ...around(packageRoot),
    ...projects.flatMap((folder) => [...around(folder), ...linkedPackages(folder)]),
    ...plugins.flatMap(({ spec, from }) => pluginFolder(spec, from)),
    ...read,
  ]
  const wanted = [...new Set(shown.filter((path) => existsSync(path)).flatMap((path) => [path, realpathSync(path)]))]
  const outside = wanted.filter((path) => !isWithinAny(path, projects) && !isSystem(path))
  const mounts: Mount[] = [...outside, ...projects].map((path) => ({ source: path, target: path }))
  for (const home of homes) {
    for (const [name, writable] of Object.entries(parts)) {
      const path = join(home, name)
      if (existsSync(path)) mounts.push({ source: path, target: path, writable })
    }
  }
  for (const path of wanted.filter((each) => isWithinAny(each, homes))) mounts.push({ source: path, target: path })
  for (const path of writable(write, projectDir)) mounts.push({ source: path, target: path, writable: true })
  return { mounts, hidden: [...homes, ...hidden, join(packageRoot, '.git'), join(packageRoot, '.evsys')] }
}

/** Those of `folders` that may be written. */
export function writable(folders: readonly string[], projectDir: string | undefined): string[] {
  if (projectDir === undefined) return [...folders]
  return folders.filter((path) => !isWithin(projectDir, path) && !isWithin(path, join(projectDir, '.evsys')))
}

interface HeldProcess extends ProjectView {
  readonly level: ProcessLevel
  readonly network?: boolean | undefined
  readonly limits?: Partial<ProcessLimits> | undefined
  /** Variables beside those that every process gets. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** What a process may take that loads code of a project and does no run. */
const usualLimits: ProcessLimits = { memoryBytes: 4096 * 2 ** 20, processes: 256, diskBytes: 1024 * 2 ** 20 }

/** For `guardedProcess`: a sandbox that is made when the process starts and goes when it ends. A limit that is hit ends the process. */
export function heldProcess({ level, mounts, hidden, network = false, limits, env = {} }: HeldProcess): ProcessPlace {
  return {
    launch(command, given, cwd) {
      const options = { level, mounts, hidden, network, limits: { ...usualLimits, ...limits } }
      const sandbox = openProcessSandbox(options)
      const isThere = mounts.some(({ target }) => isWithin(cwd, target))
      const launched = sandbox.launch(command, { ...given, ...env, EVSYS_SHUT_IN: '1' }, isThere ? cwd : '/')
      const folders = mounts.filter((mount) => mount.writable === true).map(({ source }) => source)
      let unwatch = () => {}
      return {
        ...launched,
        started(pid, channel) {
          launched.started(pid, channel)
          unwatch = sandbox.watch(folders, () => killTree(pid))
        },
        // Its end is waited for with that of all that it started: they go with the first process in the sandbox.
        begun: () => sandbox.settled(),
        async ended(hasBegun) {
          unwatch()
          await sandbox.close({ hasBegun })
        },
      }
    },
  }
}

/** Where a process lives that loads the plugins of a project to look at them. Undefined at the level `process`. */
export function pluginPlace(
  level: FoundLevel['level'],
  options: Pick<ProjectViewOptions, 'projectDir' | 'plugins' | 'hidden'>,
): ProcessPlace | undefined {
  if (level === 'process') return undefined
  const { projectDir, hidden = [] } = options
  // The transpiled code of plugins is kept for other processes that run code of the project. What scores reads none of it.
  if (projectDir !== undefined) pluginCacheDir(projectDir)
  const secrets = projectDir === undefined ? [] : ['.env', '.git'].map((name) => join(projectDir, name))
  return heldProcess({
    level,
    ...projectView({ ...options, hidden: [...hidden, ...secrets], parts: { [join('cache', 'jiti')]: true } }),
  })
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

/** Whether a path is shown by every sandbox, or never. */
export function isSystem(path: string): boolean {
  return path === '/' || path === '/tmp' || isWithinAny(path, systemFolders)
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)
}

export function isWithinAny(path: string, folders: readonly string[]): boolean {
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

/** Packages that lie elsewhere, as parts of a workspace do. */
function linkedPackages(projectDir: string): string[] {
  const folders = folderChain(projectDir).map((folder) => join(folder, 'node_modules'))
  const scopes = folders.flatMap((folder) =>
    namesIn(folder).flatMap((name) => (name.startsWith('@') ? join(folder, name) : [])),
  )
  return [...folders, ...scopes].filter((folder) => existsSync(folder)).flatMap(linksIn)
}

function folderChain(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...folderChain(above)]
}

/** Of a plugin that is a file: `from` is the folder that it is named in. */
function pluginFolder(spec: string, from: string): string[] {
  if (!spec.startsWith('.') && !isAbsolute(spec)) return []
  return [dirname(resolve(from, spec))]
}
