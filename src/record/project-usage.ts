// What a project's `.evsys` folder holds, by part and by experiment.
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreUsage } from '../contracts/index.ts'
import { fileError, fileWork, ifPresent, systemCode } from '../kernel/index.ts'
import type { OpenStore } from '../store/index.ts'
import { selectedEval } from './evidence/arm-scores.ts'
import { isDryRun } from './evidence/dry-run.ts'
import { answersFile, answersFolder, filesOf, runFolder } from './files/experiment-folder.ts'

interface ProjectUsage {
  readonly record: StoreUsage
  /** Folders of `.evsys`, the largest first. */
  readonly folders: readonly (FolderSize & { readonly name: string })[]
  /** Files of experiments, wherever they lie, the largest first. */
  readonly experiments: readonly (FolderSize & { readonly experiment_id: string; readonly name: string })[]
}

/** Experiments that are looked at, the newest first. */
const MOST_EXPERIMENTS = 1_000

export async function projectUsage(store: OpenStore, projectDir: string, signal: AbortSignal): Promise<ProjectUsage> {
  const root = join(projectDir, '.evsys')
  const folders = []
  for (const name of await foldersIn(root)) folders.push({ name, ...(await folderSize(join(root, name), signal)) })
  const experiments = []
  for (const experiment of await store.experiments({ limit: MOST_EXPERIMENTS })) {
    const dir = await filesOf(experiment, projectDir)
    if (dir === undefined) continue
    experiments.push({ experiment_id: experiment.id, name: experiment.name, ...(await folderSize(dir, signal)) })
  }
  return { record: await store.usage(), folders: folders.sort(bySize), experiments: experiments.sort(bySize) }
}

function bySize(a: FolderSize, b: FolderSize): number {
  return b.bytes - a.bytes
}

async function foldersIn(dir: string): Promise<string[]> {
  const entries = (await ifPresent('inspect', dir, () => readdir(dir, { withFileTypes: true }))) ?? []
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/**
 * Deletes answers that nothing shows any more: of experiments that ended before a time all but those of the selected checkpoints, of
 * trials and of experiments that the record does not have all, and of evaluations outside of runs the older ones, which can be scored
 * again. Returns what that freed.
 */
export async function collectAnswers(
  store: OpenStore,
  { projectDir, before, signal }: { projectDir: string; before: string; signal: AbortSignal },
): Promise<FolderSize> {
  const root = answersFolder(projectDir)
  const freed = { bytes: 0, files: 0 }
  const drop = async (file: string, bytes: number) => {
    await fileWork('delete', file, () => rm(file, { force: true }))
    freed.bytes += bytes
    freed.files += 1
  }
  for (const id of await foldersIn(root)) {
    const experiment = id === 'evals' ? undefined : await store.experiment(id)
    const isOver = experiment?.finishedAt !== undefined && experiment.finishedAt < before
    if (experiment !== undefined && !isOver) continue
    const kept =
      experiment === undefined || isDryRun(experiment) ? new Set() : await selectedAnswers(store, id, projectDir)
    for await (const { path, bytes, modified } of filesBelow(join(root, id), signal)) {
      if (kept.has(path) || (experiment === undefined && modified >= before) || path.endsWith('.md')) continue
      await drop(path, bytes)
    }
  }
  return freed
}

async function selectedAnswers(store: OpenStore, experimentId: string, projectDir: string): Promise<Set<string>> {
  const kept = new Set<string>()
  for (const run of await store.runs(experimentId)) {
    const evals = await store.evals(run.id)
    for (const { benchmark } of evals) {
      const selected = selectedEval(run, evals, benchmark)
      if (selected !== undefined) kept.add(answersFile(projectDir, run, selected))
    }
  }
  return kept
}

async function* filesBelow(
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<{ path: string; bytes: number; modified: string }, void, undefined> {
  const entries =
    (await ifPresent('inspect', folder, () => readdir(folder, { recursive: true, withFileTypes: true }))) ?? []
  for (const entry of entries) {
    signal.throwIfAborted()
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const found = await ifPresent('inspect', path, () => lstat(path))
    if (found !== undefined) yield { path, bytes: found.size, modified: found.mtime.toISOString() }
  }
}

// Segment files hold what workers reported. Once an experiment has ended, all of it is in the record, and they can go.
const ENDED = new Set(['completed', 'failed', 'stopped', 'cancelled'])
const MOST_COLLECTED = 10_000

/** Deletes the segments of experiments that ended before a time. Returns what that freed. */
export async function collectSegments(
  store: OpenStore,
  { projectDir, before, signal }: { projectDir: string; before: string; signal: AbortSignal },
): Promise<FolderSize> {
  let bytes = 0
  let files = 0
  for (const experiment of await store.experiments({ limit: MOST_COLLECTED })) {
    const { verdict, finishedAt } = experiment
    if (verdict === undefined || finishedAt === undefined || finishedAt >= before) continue
    const dir = await filesOf(experiment, projectDir)
    if (dir === undefined) continue
    for (const run of await store.runs(experiment.id)) {
      if (!ENDED.has(run.status)) continue
      const folder = join(runFolder(dir, run.name), 'segments')
      if (!(await isFolder(folder))) continue
      const size = await folderSize(folder, signal)
      await fileWork('delete', folder, () => rm(folder, { recursive: true, force: true }))
      bytes += size.bytes
      files += size.files
    }
  }
  return { bytes, files }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    await readdir(path)
    return true
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw fileError('inspect', path, cause)
  }
}

// How much a folder holds. Links are counted, not followed; what disappears meanwhile is not counted.
interface FolderSize {
  readonly bytes: number
  readonly files: number
}

async function folderSize(path: string, signal: AbortSignal): Promise<FolderSize> {
  let bytes = 0
  let files = 0
  const waiting = [path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal.throwIfAborted()
    const folder = next
    const entries = await ifPresent('inspect', folder, () => readdir(folder, { withFileTypes: true }))
    for (const entry of entries ?? []) {
      const child = join(folder, entry.name)
      if (entry.isDirectory()) {
        waiting.push(child)
        continue
      }
      const found = await ifPresent('inspect', child, () => lstat(child))
      if (found === undefined) continue
      bytes += found.size
      files += 1
    }
  }
  return { bytes, files }
}
