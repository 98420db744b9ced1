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
import type { Path } from './located.ts'
import type { Complaint } from './report.ts'

/** After so many the file has to be mended anyway. */
const most = 20

/** What is wrong with the tasks of a folder that exists, which errors call `name`; `cannot be read` is a problem without a line. */
export async function checkTasks(
  { folder, name }: { folder: string; name: string },
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
    const isAbsent = systemCode(cause) === 'ENOENT'
    if (isAbsent && (await holdsTaskFolders(folder))) return []
    const { message, fix } = fileError('read', file, cause)
    const hint = isAbsent ? 'a benchmark folder holds tasks.jsonl, one task per line.' : fix
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

  add({ line, result }: JsonLine): undefined {
    this.#count += 1
    const complain = (message: string, fix: string, path: Path = []) =>
      this.#problem(line, { code: 'DATA_INVALID', message, fix }, path)
    if ('fault' in result) return complain(result.fault, 'write one JSON object per line.')
    const checked = checkValue(HarborTask, result.value)
    if (!checked.ok) {
      const fix = 'a task has task_id, instruction and verifier: { kind: in_process, fn_name, expected }.'
      for (const { message, path } of checked.issues.slice(0, 3)) complain(message, fix, path)
      return
    }
    const { task_id, verifier } = checked.value
    const first = this.#lineOf.get(task_id)
    if (first === undefined) this.#lineOf.set(task_id, line)
    else {
      const message = `the task id ${JSON.stringify(task_id)} stands in line ${first} too`
      complain(message, 'give every task a different id.')
    }
    if (verifier.kind === 'e2b') {
      const message = 'tasks of kind "e2b" run in a service that evsys does not use'
      const fix = 'score them with the verifier `code`, or keep them as task folders, which run in the sandbox.'
      this.#problem(line, { code: 'SANDBOX_MISSING', message, fix }, ['verifier', 'kind'])
    }
    if (verifier.kind !== 'in_process') return
    const key = JSON.stringify([verifier.fn_name, verifier.params])
    if (!this.#verifiers.has(key)) this.#verifiers.set(key, { line, kind: verifier.fn_name, params: verifier.params })
  }

  /** Each verifier once, at the first line that names it. */
  async checkVerifiers(): Promise<void> {
    if (this.#count === 0) {
      const fix = 'write one task per line: {"task_id": ..., "instruction": ..., "verifier": {...}}.'
      this.#problem(1, { code: 'DATA_INVALID', message: 'the file holds no task', fix })
    }
    const uses = [...this.#verifiers.values()].filter(({ kind, line }) => {
      if (this.#catalog.card('verifier', kind) !== undefined) return true
      const { code, message, fix } = unknownKind('verifier', kind, this.#catalog.kinds('verifier'))
      this.#problem(line, { code, message, fix }, ['verifier', 'fn_name'])
      return false
    })
    const results = await this.#catalog.check(uses.map(({ kind, params }) => ({ type: 'verifier', kind, params })))
    for (const [i, { line, kind }] of uses.entries()) {
      const result = results[i]
      for (const { message, path } of result?.ok === false ? result.issues : []) {
        const fix = `\`evsys schema verifier ${kind}\` prints what it takes.`
        this.#problem(line, { code: 'PLUGIN_PARAMS', message, fix }, ['verifier', 'params', ...path])
      }
    }
    this.problems.sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0))
  }

  #problem(line: number, complaint: Complaint, path: Path = []): undefined {
    const where = withoutUndefined({ file: this.#file, line, col: 1, path: formatPath(path) || undefined })
    this.problems.push({ ...complaint, where })
  }
}
