// What run workers see of this machine: the code and data of the project, read-only, and of `.evsys` what data is made of. Neither the record
// nor other runs nor benchmarks are there, and no process but their own. At the level `process` nothing is shut in.
import { existsSync, mkdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { Level, Mount, PluginCard } from '../../contracts/index.ts'
import { fileError, hubCacheFolder, type PluginReference, type ProcessPlace, systemCode } from '../../kernel/index.ts'
import { cacheFolder } from '../../models/index.ts'
import {
  type FoundLevel,
  heldProcess,
  isSystem,
  isWithinAny,
  type ProcessLimits,
  type ProcessSandboxOptions,
  projectView,
  writable,
} from '../../sandbox/index.ts'

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

export function workerSandbox(options: WorkerSandboxOptions): WorkerSandbox {
  const { level, projectDir, outputRoot, hidden, runs, plugins, network, read, write } = options
  const caches = { EVSYS_CACHE: cacheFolder(), HF_HUB_CACHE: hubCacheFolder() }
  const isTrusted = isOurCode(options)
  const view = projectView({
    projectDir,
    plugins,
    hidden,
    read: [...Object.values(caches), ...named(runs), ...read],
    // Rows and tokens are kept for later runs by workers in which nothing of the project runs; the others keep their own.
    parts: { cache: isTrusted, datasets: false, blobs: false },
    write,
  })
  return {
    level,
    ...view,
    written: writable(write, projectDir),
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

/** Files and folders that an experiment names anywhere: data, models, weights of other runs. */
function named(value: unknown): string[] {
  if (typeof value === 'string') {
    const path = value.startsWith('mock:///') ? dirname(decodeURI(value.slice('mock://'.length))) : value
    return isAbsolute(path) && !path.includes('\0') && !isSystem(path) ? [path] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(named)
}

/** What a process with code of the project may use beside a worker that does runs. */
interface BesideWorkers {
  /** Shown read-only. */
  readonly read?: readonly (string | undefined)[] | undefined
  /** Folders of this machine that it may write, and where it sees them: absent, in their place. */
  readonly write?: readonly { readonly folder: string; readonly as?: string | undefined }[] | undefined
  readonly limits?: Partial<ProcessLimits> | undefined
}

/** Where a process lives that runs code of the project and does no runs: it sees what workers see, and no run but what it is shown. */
export function besideWorkers(
  { level, mounts, hidden, written, network, env }: WorkerSandbox,
  { read = [], write = [], limits }: BesideWorkers,
): ProcessPlace {
  const shown = new Set(read.flatMap((path) => (path === undefined || !existsSync(path) ? [] : [path])))
  for (const { folder } of write) makeFolder(folder)
  const given = new Set([...shown, ...write.map(({ folder }) => folder)])
  return heldProcess({
    level,
    mounts: [
      ...mounts.map((mount) => (written.includes(mount.source) ? { ...mount, writable: false } : mount)),
      ...[...shown].map((path) => ({ source: path, target: path })),
      ...write.map(({ folder, as = folder }) => ({ source: folder, target: as, writable: true })),
    ],
    hidden: hidden.filter((path) => !given.has(path)),
    network,
    env,
    limits,
  })
}

/** Where an evaluator with plugins of the project lives: it reads the weights of runs, and writes what clients answered into `answers`. */
export function evaluatorPlace(
  sandbox: WorkerSandbox,
  answers: string,
  cards: readonly Pick<PluginCard, 'needs'>[],
): ProcessPlace {
  const network = sandbox.network || cards.some(({ needs }) => needs.network === true)
  const limits = { memoryBytes: evaluatorMb * 2 ** 20 }
  return besideWorkers({ ...sandbox, network }, { read: [sandbox.shownIn], write: [{ folder: answers }], limits })
}

/** It may hold a trainer. */
const evaluatorMb = 12_288

/** Where a process that keeps rows for the project writes them: what it makes itself it looks for there too. */
export const ownRows = (folder: string) => ({ folder, as: join('/tmp/cache', basename(folder)) })

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
