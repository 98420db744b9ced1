// Where research tasks are: `tasks/NAME/task.yaml` of the project, then those that come with evsys. A task of the project hides a
// bundled one of the same name.
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SessionSettings } from '../../contracts/index.ts'
import { EvsysError, fileError, shellWord, suggest, systemCode } from '../../kernel/index.ts'

/** The folder of the tasks that come with evsys, and of the modules that tasks share. */
export const bundledTasks = fileURLToPath(new URL('../../../tasks', import.meta.url))

/** A folder with a task file. */
export interface TaskPlace {
  /** Of its folder; the file has the same unless it is wrong. */
  readonly name: string
  readonly file: string
  readonly origin: 'project' | 'bundled' | 'path'
}

interface FindTasksOptions {
  /** Absent: no project, bundled tasks alone. */
  readonly projectDir?: string | undefined
}

/** All tasks by name; those of the project first. */
export async function findTasks({ projectDir }: FindTasksOptions): Promise<TaskPlace[]> {
  const own = projectDir === undefined ? [] : await tasksIn(join(projectDir, 'tasks'), 'project')
  const names = new Set(own.map(({ name }) => name))
  const bundled = (await tasksIn(bundledTasks, 'bundled')).filter(({ name }) => !names.has(name))
  return [...own, ...bundled]
}

/** The task that `NAME`, `NAME/VARIANT` or a path (a folder or its task.yaml) stands for. */
export async function findTask(
  reference: string,
  { projectDir, cwd }: FindTasksOptions & { readonly cwd: string },
): Promise<{ place: TaskPlace; variant?: string | undefined }> {
  const tasks = await findTasks({ projectDir })
  const [name = '', variant, ...rest] = reference.split('/')
  const known = rest.length === 0 ? tasks.find((task) => task.name === name) : undefined
  if (known !== undefined) return variant === undefined || variant === '' ? { place: known } : { place: known, variant }
  const file = await fileAt(resolve(cwd, reference))
  if (file !== undefined) return { place: { name: basename(dirname(file)), file, origin: 'path' } }
  if (looksLikePath(reference)) {
    throw new EvsysError('CONFIG_READ', `there is no task at ${reference}`, {
      fix: 'name a folder with a task.yaml, or the file itself; `evsys task list` shows the tasks that have a name.',
    })
  }
  const names = tasks.map((task) => task.name)
  throw new EvsysError('CONFIG_READ', `no task is called "${name}"`, {
    fix: suggest(name, names, { more: '`evsys task init NAME` makes one.' }),
  })
}

const looksLikePath = (text: string) => isAbsolute(text) || /^\.|[\\]|\.ya?ml$|\/.*\//.test(text)

async function tasksIn(folder: string, origin: TaskPlace['origin']): Promise<TaskPlace[]> {
  const found = await Promise.all(
    (await namesIn(folder)).sort().map(async (name) => {
      const file = join(folder, name, 'task.yaml')
      return (await isFile(file)) ? [{ name, file, origin }] : []
    }),
  )
  return found.flat()
}

async function fileAt(path: string): Promise<string | undefined> {
  if (/\.ya?ml$/.test(path) && (await isFile(path))) return path
  const inside = join(path, 'task.yaml')
  return (await isFile(inside)) ? inside : undefined
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')) return []
    throw fileError('list', folder, cause)
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch {
    return false // what cannot be read is no task
  }
}

/** Whether `asked` means this task: its name, the name with a variant, or its folder or file. */
export function isAskedFor(
  { task, reference }: { readonly task: string; readonly reference?: string | undefined },
  asked: string,
): boolean {
  if (asked === task || asked === reference) return true
  return /^[./]|\\|\.ya?ml$/.test(asked) && basename(asked.replace(/[\\/]task\.ya?ml$/, '')) === task
}

/** What a session is about, as an argument of `evsys research run`: an experiment file, or a task. */
export function researchSubject({
  task,
  reference = task,
  catalog,
}: Pick<SessionSettings, 'task' | 'reference' | 'catalog'>): string {
  return catalog === undefined ? `--task ${shellWord(reference)}` : shellWord(reference)
}
