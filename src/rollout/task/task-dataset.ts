// A dataset is a folder of task folders, one level deep. A child that is no valid task is reported, never silently left out.
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import * as z from 'zod'
import type { HarborTask } from '../../contracts/index.ts'
import { defineDataSource, EvsysError, fileError, mapConcurrent, type Problem, problemsOf } from '../../kernel/index.ts'
import { loadTaskFolder } from './load-task-folder.ts'
import type { LoadedTask, LoadTaskOptions } from './loaded-task.ts'

/** The tasks of a folder, by name of their folders. */
interface TaskDataset {
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
async function isTaskFolder(path: string): Promise<boolean> {
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

// The tasks of a folder as rows, all or none: training and scoring must know that none is missing.
interface FolderRow {
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
async function taskRowsIdentity(path: string, name = path): Promise<readonly (readonly [string, string])[]> {
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
      const fix = 'give every task its name, in [task] of its task.toml.'
      problems.push({ code: 'DATA_INVALID', message: `${other} and ${place} are both called "${task.name}"`, fix })
    } else first.set(task.name, place)
  }
  if (problems.length > 0) throw EvsysError.many(problems)
  return placed
}

// A task folder as a row, for everything that takes rows: benchmarks, training, records.

/**
 * The row of a task folder; of a task of several steps its instruction is those of its steps. The tests stay in the folder: what
 * an agent is handed must not hold them.
 */
export async function taskRow(task: LoadedTask): Promise<HarborTask> {
  const instruction =
    task.steps.length === 0
      ? task.instruction
      : task.steps.map((step) => `## ${step.name}\n\n${step.instruction.trim()}`).join('\n\n')
  const image = task.config.environment.docker_image
  const dockerfile =
    image === undefined
      ? await readFile(join(task.environmentDir, 'Dockerfile'), 'utf8').catch(() => '')
      : `FROM ${image}\n`
  return {
    task_id: task.name,
    instruction,
    verifier: { kind: 'e2b', dockerfile, test_sh: 'exec /tests/test.sh' },
    metadata: { ...task.config.metadata, task_digest: task.digest, task_path: task.path },
  }
}

const InFolder = z.looseObject({ task_path: z.string().min(1), task_digest: z.string().min(1) })

/** The folder that a row was made of, and its digest then; undefined: the row is the whole task. */
export function folderOfRow({ verifier, metadata }: HarborTask): { path: string; digest: string } | undefined {
  const { data } = InFolder.safeParse(metadata)
  if (verifier.kind !== 'e2b' || data === undefined) return undefined
  return { path: data.task_path, digest: data.task_digest }
}

export const harborSource = defineDataSource({
  kind: 'harbor',
  summary: 'Reads Harbor task folders (data.path): a task per row, attempted in its environment, scored by its tests.',
  params: z.strictObject({}),
  async *rows({ data, resolve, signal }) {
    const path = pathOf(data.path)
    for (const { row, place } of await loadTaskRows(resolve(path), path)) {
      signal.throwIfAborted()
      yield { row, place }
    }
  },
  async identity({ data, resolve }) {
    const path = pathOf(data.path)
    return { path, tasks: await taskRowsIdentity(resolve(path), path) }
  },
})

function pathOf(path: string | undefined): string {
  if (path !== undefined) return path
  throw new EvsysError('DATA_READ', 'data.path is missing: the source "harbor" reads a folder of task folders', {
    fix: 'add `path: tasks` to data, relative to the experiment file.',
  })
}
