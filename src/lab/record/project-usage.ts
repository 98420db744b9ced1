// What a project's `.evsys` folder holds, by part and by experiment.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreUsage } from '../../contracts/index.ts'
import { fileError, systemCode } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { filesOf } from './conclude-again.ts'
import { type FolderSize, folderSize } from './folder-size.ts'

export interface ProjectUsage {
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
  try {
    const entries = await readdir(dir, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return []
    throw fileError('look at', dir, cause)
  }
}
