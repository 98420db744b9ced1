// From a task file to a checked task, with the same located errors as experiments have.
import { dirname, resolve } from 'node:path'
import { type Location, TaskFile } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { NodeChecker, nearest } from './check-node.ts'
import { coerceSweeps } from './coerce-sweeps.ts'
import type { Path } from './located.ts'
import { type ConfigSource, readDocument } from './read-document.ts'
import { locationOf, Report } from './report.ts'
import { withoutNulls } from './schema-walk.ts'

export interface LoadTaskOptions {
  /** Folder that the file is relative to. */
  readonly cwd?: string
  readonly signal?: AbortSignal
}

/** A valid task, and where everything in it was written. */
export interface LoadedTask {
  readonly task: TaskFile
  /** As errors call it. */
  readonly name: string
  /** Absolute; absent for a mapping made in code. */
  readonly file?: string
  /** Folder that the task's files are relative to. */
  readonly dir: string
  locate(path: Path): Location
}

/** Loads and checks a task. Throws one `EvsysError` that carries every problem, in file order. */
export async function loadTask(source: ConfigSource, options: LoadTaskOptions = {}): Promise<LoadedTask> {
  const cwd = resolve(options.cwd ?? '.')
  const report = new Report()
  const document = await readDocument(source, { cwd, signal: options.signal }, report)
  if (document === undefined) throw EvsysError.many(report.problems)
  const root = coerceSweeps(withoutNulls(document.root, TaskFile), report)
  const task = new NodeChecker(report, { written: TaskFile }).checkFields(TaskFile, root)
  report.throwIfAny()
  if (task === undefined) throw new EvsysError('INTERNAL', 'a task was refused, and nothing says why')
  return {
    task,
    name: document.source.name,
    ...(document.file === undefined ? {} : { file: document.file }),
    dir: document.file === undefined ? cwd : dirname(document.file),
    locate: (path) => {
      const { node, below } = nearest(root, path)
      return locationOf(node.origin, below)
    },
  }
}
