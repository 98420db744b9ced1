// A benchmark folder before it is scored: `tasks.jsonl` holds one task per line, with ids that differ and verifiers that exist.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { HarborTask } from '../contracts/index.ts'
import {
  type Catalog,
  checkValue,
  fileError,
  type Problem,
  systemCode,
  unknownKind,
  withoutUndefined,
} from '../kernel/index.ts'
import { type JsonLine, readJsonLines } from './check-files.ts'
import { formatPath } from './dotted-path.ts'

/** After so many the file has to be mended anyway. */
const most = 20

export interface TasksFile {
  readonly folder: string
  /** What errors call the folder. */
  readonly name: string
}

/** What is wrong with the tasks of a folder that exists; `cannot be read` is a problem without a line. */
export async function checkTasks(
  { folder, name }: TasksFile,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<Problem[]> {
  const file = `${name}/tasks.jsonl`
  const checker = new TaskChecker(file, catalog)
  try {
    for await (const line of readJsonLines(join(folder, 'tasks.jsonl'), signal)) {
      checker.add(line)
      if (checker.problems.length >= most) return checker.problems
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (systemCode(cause) === 'ENOENT' && (await holdsTaskFolders(folder))) return []
    const { message, fix } = fileError('read', file, cause)
    const hint = systemCode(cause) === 'ENOENT' ? 'a benchmark folder holds tasks.jsonl, one task per line.' : fix
    return [{ code: 'CONFIG_PATH', message, fix: hint }]
  }
  await checker.checkVerifiers()
  return checker.problems
}

// Task folders are read where they are attempted; here it is enough to know them.
async function holdsTaskFolders(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => [])
  const files = ['.', ...names].map((name) => join(folder, name, 'task.toml'))
  const found = await Promise.all(files.map((file) => stat(file).catch(() => undefined)))
  return found.some((each) => each?.isFile() === true)
}

class TaskChecker {
  readonly problems: Problem[] = []
  readonly #file: string
  readonly #catalog: Catalog
  readonly #lineOf = new Map<string, number>()
  readonly #verifiers = new Map<string, { line: number; kind: string; params: unknown }>()
  #count = 0

  constructor(file: string, catalog: Catalog) {
    this.#file = file
    this.#catalog = catalog
  }

  add({ line, result }: JsonLine): void {
    this.#count += 1
    if ('fault' in result) {
      this.#fault(line, result.fault, 'write one JSON object per line.')
      return
    }
    const checked = checkValue(HarborTask, result.value)
    if (!checked.ok) {
      for (const issue of checked.issues.slice(0, 3)) this.#issue(line, issue)
      return
    }
    const { task_id, verifier } = checked.value
    const first = this.#lineOf.get(task_id)
    if (first === undefined) this.#lineOf.set(task_id, line)
    else
      this.#fault(
        line,
        `the task id ${JSON.stringify(task_id)} stands in line ${first} too`,
        'give every task an id of its own.',
      )
    if (verifier.kind === 'e2b') this.#noContainer(line)
    if (verifier.kind !== 'in_process') return
    const key = JSON.stringify([verifier.fn_name, verifier.params])
    if (!this.#verifiers.has(key)) this.#verifiers.set(key, { line, kind: verifier.fn_name, params: verifier.params })
  }

  /** Each verifier once, at the first line that names it. */
  async checkVerifiers(): Promise<void> {
    if (this.#count === 0)
      this.#fault(
        1,
        'the file holds no task',
        'write one task per line: {"task_id": ..., "instruction": ..., "verifier": {...}}.',
      )
    const uses = [...this.#verifiers.values()].filter(({ kind, line }) => {
      if (this.#catalog.card('verifier', kind) !== undefined) return true
      const { code, message, fix } = unknownKind('verifier', kind, this.#catalog.kinds('verifier'))
      this.problems.push({
        code,
        message,
        where: this.#where(line, 'verifier.fn_name'),
        fix,
      })
      return false
    })
    const results = await this.#catalog.check(uses.map(({ kind, params }) => ({ type: 'verifier', kind, params })))
    for (const [i, { line, kind }] of uses.entries()) {
      const result = results[i]
      for (const issue of result?.ok === false ? result.issues : []) {
        const path = formatPath(['verifier', 'params', ...issue.path])
        const fix = `\`evsys schema verifier ${kind}\` prints what it takes.`
        this.problems.push({ code: 'PLUGIN_PARAMS', message: issue.message, where: this.#where(line, path), fix })
      }
    }
    this.problems.sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0))
  }

  #noContainer(line: number): void {
    const message = 'tasks of kind "e2b" run in a service that evsys does not use'
    const fix = 'score them with the verifier `code`, or keep them as task folders, which run in the sandbox.'
    this.problems.push({ code: 'SANDBOX_MISSING', message, where: this.#where(line, 'verifier.kind'), fix })
  }

  #issue(line: number, { path, message }: { path: (string | number)[]; message: string }): void {
    const text = formatPath(path)
    const fix = 'a task has task_id, instruction and verifier: { kind: in_process, fn_name, expected }.'
    this.problems.push({ code: 'DATA_INVALID', message, where: this.#where(line, text), fix })
  }

  #fault(line: number, message: string, fix: string): void {
    this.problems.push({ code: 'DATA_INVALID', message, where: this.#where(line), fix })
  }

  #where(line: number, path?: string) {
    return withoutUndefined({ file: this.#file, line, col: 1, path: path || undefined })
  }
}
