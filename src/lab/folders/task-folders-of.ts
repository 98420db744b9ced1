// The task folders of a benchmark, and one of them as it was when the benchmark was opened.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { LoadedTask } from '../../rollout/index.ts'

/** The tasks that count, where they are folders; undefined: they are rows. The scorer reads them too, and hashes every file. */
export async function taskFoldersOf({
  path,
  limit,
}: Pick<Benchmark, 'path' | 'limit'>): Promise<readonly LoadedTask[] | undefined> {
  if (path === undefined || (await isThere(join(path, 'tasks.jsonl')))) return undefined
  const { holdsTaskFolders, loadTaskRows } = await import('../../rollout/index.ts') // with agents and environments
  if (!(await holdsTaskFolders(path))) return undefined
  return (await loadTaskRows(path)).map(({ task }) => task).slice(0, limit)
}

/** The task folder at `path`, if it is still the one with this digest. */
export async function loadUnchanged(path: string, digest: string): Promise<LoadedTask> {
  const { loadTaskFolder } = await import('../../rollout/index.ts')
  const task = await loadTaskFolder(path)
  if (task.digest === digest) return task
  throw new EvsysError('DATA_INVALID', `the task folder ${path} has changed since it was read`, {
    fix: 'leave task folders alone while a run uses them; start again to use what they are now.',
  })
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
