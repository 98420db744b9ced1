// The tasks of a folder as rows, all or none: whoever trains or is scored on them must know that none is missing.
import { basename } from 'node:path'
import type { HarborTask } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../../kernel/index.ts'
import type { LoadedTask } from './loaded-task.ts'
import { loadTaskDataset } from './task-dataset.ts'
import { taskRow } from './task-row.ts'

export interface FolderRow {
  readonly row: HarborTask
  readonly task: LoadedTask
  /** Its folder, as a person would write it. */
  readonly place: string
}

/** The rows at `path`, a task folder or a folder of task folders that people call `name`. Children that are no tasks are errors. */
export async function loadTaskRows(path: string, name = path): Promise<FolderRow[]> {
  const tasks = await loadTasksStrictly(path, name)
  return Promise.all(
    tasks.map(async ({ task, place }) => {
      const row = await taskRow(task)
      return { row: { ...row, metadata: { ...row.metadata, task_path: place } }, task, place }
    }),
  )
}

/** What the rows follow from: every file of every task, by its digest. */
export async function taskRowsIdentity(path: string, name = path): Promise<readonly (readonly [string, string])[]> {
  const tasks = await loadTasksStrictly(path, name)
  return tasks.map(({ task, place }) => [place, task.digest] as const)
}

async function loadTasksStrictly(path: string, name: string): Promise<{ task: LoadedTask; place: string }[]> {
  const dataset = await loadTaskDataset(path)
  const folder = name.replace(/\/+$/, '')
  const isOne = dataset.tasks[0]?.path === dataset.path
  const placed = dataset.tasks.map((task) => ({ task, place: isOne ? folder : `${folder}/${basename(task.path)}` }))
  const first = new Map<string, string>()
  const problems: Problem[] = dataset.invalid.flatMap((each) => each.problems)
  for (const { task, place } of placed) {
    const other = first.get(task.name)
    if (other !== undefined) {
      const fix = 'give every task a name of its own, in [task] of its task.toml.'
      problems.push({ code: 'DATA_INVALID', message: `${other} and ${place} are both called "${task.name}"`, fix })
    } else first.set(task.name, place)
  }
  if (problems.length > 0) throw EvsysError.many(problems)
  return placed
}
