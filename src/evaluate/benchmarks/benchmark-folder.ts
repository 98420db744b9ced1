// A benchmark as a folder: `tasks.jsonl`, one task per line, and an optional `metadata.yaml`. Other entries (`images/`, `raw/`)
// are left alone. The hash is over what the tasks mean, not over how the file is formatted.
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Benchmark, HarborTask, Sha256 } from '../../contracts/index.ts'
import { parseRows, readJsonl, withPlace } from '../../data/index.ts'
import {
  canonicalJson,
  EvsysError,
  isMapping,
  placeOf,
  plainYaml,
  readBoundedText,
  systemCode,
} from '../../kernel/index.ts'
import type { LoadedTask } from '../../rollout/index.ts'

export interface BenchmarkFolder {
  /** `name` of metadata.yaml, or the folder's name. */
  readonly name: string
  readonly dir: string
  readonly tasks: readonly HarborTask[]
  readonly metadata: Readonly<Record<string, unknown>>
  /** Of the tasks, in their order. */
  readonly hash: Sha256
}

/** Reads a benchmark. Every fault of its files is an error with file and line. */
export async function readBenchmarkFolder(
  dir: string,
  { name = dir, signal }: { name?: string | undefined; signal: AbortSignal },
): Promise<BenchmarkFolder> {
  const metadata = await readMetadata(join(dir, 'metadata.yaml'), `${name}/metadata.yaml`)
  const tasks = await readTasks(join(dir, 'tasks.jsonl'), `${name}/tasks.jsonl`, signal)
  const hash = createHash('sha256')
  for (const task of tasks) hash.update(`${canonicalJson(task)}\n`)
  return {
    name: typeof metadata.name === 'string' && metadata.name !== '' ? metadata.name : basename(resolve(dir)),
    dir,
    tasks,
    metadata,
    hash: hash.digest('hex'),
  }
}

async function readTasks(path: string, name: string, signal: AbortSignal): Promise<HarborTask[]> {
  const tasks: HarborTask[] = []
  const lineOf = new Map<string, number>()
  const linesRead: number[] = []
  async function* rows() {
    for await (const { row, line } of readJsonl(path, { name, signal })) {
      linesRead.push(line)
      yield withPlace(row, `${name}:${line}`)
    }
  }
  for await (const task of parseRows(rows(), 'harbor_task', { signal })) {
    const line = linesRead[tasks.length] ?? 1
    const first = lineOf.get(task.task_id)
    if (first !== undefined) {
      const message = `${name}:${line}: the task id "${task.task_id}" stands in line ${first} too`
      const where = { file: name, line, col: 1 }
      throw new EvsysError('DATA_INVALID', message, { where, fix: 'give every task a separate id.' })
    }
    lineOf.set(task.task_id, line)
    tasks.push(task)
  }
  if (tasks.length > 0) return tasks
  throw new EvsysError('DATA_INVALID', `${name} holds no task`, {
    where: { file: name, line: 1, col: 1 },
    fix: 'write one task per line: {"task_id": ..., "instruction": ..., "verifier": {...}}.',
  })
}

const mostMetadata = 4_000_000

async function readMetadata(path: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readBoundedText(path, mostMetadata, name).catch((cause: unknown) => {
    if (systemCode(Object(cause).cause) !== 'ENOENT') throw cause
  })
  if (text === undefined) return {} // it is optional; a missing folder shows up at tasks.jsonl
  const read = await plainYaml(text)
  if ('fault' in read) {
    throw new EvsysError('CONFIG_SYNTAX', `${name}: ${read.fault}`, {
      where: { file: name, ...placeOf(text, read.at) },
      fix: 'correct the YAML at the place shown.',
    })
  }
  const { value } = read
  if (value === null || value === undefined) return {}
  if (isMapping(value)) return { ...value }
  throw new EvsysError('CONFIG_INVALID', `${name}: expected a mapping`, {
    where: { file: name, line: 1, col: 1 },
    fix: 'write keys and values: `name: router-val`.',
  })
}

// The task folders of a benchmark, and one of them as it was when the benchmark was opened.

/** The tasks that count, where they are folders; undefined: they are rows. The scorer reads them too, and hashes every file. */
export async function taskFoldersOf({
  path,
  limit,
  engine,
  name,
}: Pick<Benchmark, 'path' | 'limit' | 'engine' | 'name'>): Promise<readonly LoadedTask[] | undefined> {
  if (path === undefined || (await stat(join(path, 'tasks.jsonl')).catch(() => undefined))) return undefined
  const { holdsTaskFolders, loadTaskRows } = await import('../../rollout/index.ts') // with agents and environments
  if (!(await holdsTaskFolders(path))) return undefined
  if (engine !== 'harbor') {
    throw new EvsysError('CONFIG_INVALID', `the tasks of ${name} are folders, which one completion cannot attempt`, {
      fix: 'leave `engine` out of the benchmark.',
    })
  }
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
