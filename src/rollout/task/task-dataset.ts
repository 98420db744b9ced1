// A dataset is a folder of task folders, one level deep. A child that is no valid task is told of, never silently left out.
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EvsysError, fileError, mapConcurrent, type Problem, problemsOf } from '../../kernel/index.ts'
import { loadTaskFolder } from './load-task-folder.ts'
import type { LoadedTask, LoadTaskOptions } from './loaded-task.ts'

/** The tasks of a folder, by name of their folders. */
export interface TaskDataset {
  readonly path: string
  readonly tasks: readonly LoadedTask[]
  /** Children that are not valid tasks, and why. */
  readonly invalid: readonly { readonly path: string; readonly problems: readonly Problem[] }[]
}

/** Reads the tasks at `path`: a folder of task folders, or one task folder itself. */
export async function loadTaskDataset(path: string, options: LoadTaskOptions = {}): Promise<TaskDataset> {
  const root = resolve(path)
  if (await isTaskFolder(root)) return { path: root, tasks: [await loadTaskFolder(root, options)], invalid: [] }
  const children = await readdir(root).catch((cause: unknown) => {
    throw fileError('read the tasks in', root, cause)
  })
  const folders: string[] = []
  for (const name of children.sort()) {
    const child = join(root, name)
    if (!name.startsWith('.') && (await stat(child).catch(() => undefined))?.isDirectory()) folders.push(child)
  }
  const { signal } = new AbortController()
  const results = await mapConcurrent(folders, { limit: 8, signal }, async (child) => {
    try {
      return await loadTaskFolder(child, options)
    } catch (error) {
      return { path: child, problems: problemsOf(error) }
    }
  })
  const tasks = results.filter((each) => 'digest' in each)
  const invalid = results.filter((each) => 'problems' in each)
  if (tasks.length > 0) return { path: root, tasks, invalid }
  const reasons = invalid.flatMap(({ problems }) => problems)
  throw EvsysError.many([
    {
      code: 'CONFIG_READ',
      message: `${root} holds no valid task folder`,
      fix: 'name a task folder, or a folder whose children are task folders (task.toml, instruction.md, environment/, tests/).',
    },
    ...reasons,
  ])
}

/** Whether `path` is a task folder, valid or not. */
export async function isTaskFolder(path: string): Promise<boolean> {
  return (await stat(join(path, 'task.toml')).catch(() => undefined))?.isFile() ?? false
}

/** Whether a path is a task folder, or a folder with at least one and no `tasks.jsonl`. */
export async function holdsTaskFolders(path: string): Promise<boolean> {
  if (await isTaskFolder(path)) return true
  const children: string[] = await readdir(path).catch(() => [])
  if (children.includes('tasks.jsonl')) return false
  for (const child of children) if (await isTaskFolder(join(path, child))) return true
  return false
}
