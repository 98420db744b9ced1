// Segment files hold what workers told. Once an experiment has ended, all of it is in the record, and they can go.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError, systemCode } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { runFolder } from '../experiment/assign-run.ts'
import { filesOf } from './conclude-again.ts'
import { type FolderSize, folderSize } from './folder-size.ts'

const ENDED = new Set(['completed', 'failed', 'stopped', 'cancelled'])
const MOST_EXPERIMENTS = 10_000

/** Deletes the segments of experiments that ended before a time. Returns what that freed. */
export async function collectSegments(
  store: OpenStore,
  { projectDir, before, signal }: { projectDir: string; before: string; signal: AbortSignal },
): Promise<FolderSize> {
  let bytes = 0
  let files = 0
  for (const experiment of await store.experiments({ limit: MOST_EXPERIMENTS })) {
    const { verdict, finishedAt } = experiment
    if (verdict === undefined || finishedAt === undefined || finishedAt >= before) continue
    const dir = await filesOf(experiment, projectDir)
    if (dir === undefined) continue
    for (const run of await store.runs(experiment.id)) {
      if (!ENDED.has(run.status)) continue
      const folder = join(runFolder(dir, run.name), 'segments')
      if (!(await isFolder(folder))) continue
      const size = await folderSize(folder, signal)
      await rm(folder, { recursive: true, force: true }).catch((cause: unknown) => {
        throw fileError('delete', folder, cause)
      })
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
    throw fileError('look at', path, cause)
  }
}
