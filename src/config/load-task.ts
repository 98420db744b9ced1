// From a task file to a checked task, with the same located errors as experiments have.
import { dirname, resolve } from 'node:path'
import { type Location, TaskFile } from '../contracts/index.ts'
import { EvsysError, suggest } from '../kernel/index.ts'
import { locateIn, NodeChecker } from './check-node.ts'
import { putAt, withKey } from './edit-tree.ts'
import { maxArms } from './expand-matrix.ts'
import { type LocatedMap, type LocatedNode, nodeAt, type Path, scalarNode, seqNode } from './located.ts'
import { type ConfigSource, readDocument } from './read-document.ts'
import { Report } from './report.ts'
import { withoutNulls } from './schema-walk.ts'

export interface LoadTaskOptions {
  /** Folder that the file is relative to. */
  readonly cwd?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A valid task, and where everything in it was written. */
export interface LoadedTask {
  readonly task: TaskFile
  /** As errors call it. */
  readonly name: string
  /** Absolute; absent for a mapping made in code. */
  readonly file?: string | undefined
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
  const task = new NodeChecker(report, TaskFile).checkFields(TaskFile, root)
  report.throwIfAny()
  if (task === undefined) throw new EvsysError('INTERNAL', 'a task was refused, and nothing says why')
  return {
    task,
    name: document.source.name,
    file: document.file,
    dir: document.file === undefined ? cwd : dirname(document.file),
    locate: (path) => locateIn(root, path),
  }
}

// Sweep values of a task take the type of the parameter they vary: YAML writers quote them, and `'1e-5'` is meant as a number
// where the parameter is one.
const config = ['sweeps', 'sweep_config'] as const

/** The task with its sweep values converted; what cannot be converted, and what varies no parameter, is reported. */
function coerceSweeps(root: LocatedMap, report: Report): LocatedMap {
  const sweeps = nodeAt(root, config)
  if (sweeps?.type !== 'map') return root
  const parameters = nodeAt(root, ['parameters'])
  const declared = parameters?.type === 'map' ? [...parameters.entries.keys()] : []
  let changed = sweeps
  let cells = 1
  for (const { key, at, value } of sweeps.entries.values()) {
    const parameter = nodeAt(parameters, [key])
    if (parameter === undefined) {
      const message = `the sweep varies ${JSON.stringify(key)}, which is no parameter of the task`
      report.problem(at, { code: 'CONFIG_UNKNOWN_KEY', message, fix: suggest(key, declared) })
    } else if (value.type === 'seq') {
      const items = value.items.map((item) => coerced(item, parameter, key, report))
      changed = withKey(changed, key, seqNode(items, value.origin))
      cells *= items.length
    }
  }
  if (cells > maxArms) {
    const message = `the sweep makes ${cells} jobs, more than ${maxArms}`
    report.problem(sweeps.origin, { code: 'CONFIG_MATRIX', message, fix: 'shorten or remove lists of values.' })
  }
  return putAt(root, config, changed, sweeps.origin)
}

function coerced(item: LocatedNode, parameter: LocatedNode, key: string, report: Report): LocatedNode {
  const wanted = typeName(parameter)
  const found = typeName(item)
  if (wanted === found || wanted === 'null' || found === 'null') return item
  if (item.type === 'scalar') {
    const text = typeof item.value === 'string' ? item.value.trim() : writtenText(item)
    if (wanted === 'text') return scalarNode(text, item.origin)
    if (wanted === 'a number' && isNumber(text)) return scalarNode(Number(text), item.origin)
    if (wanted === 'true or false' && /^(?:true|false)$/i.test(text)) {
      return scalarNode(text.toLowerCase() === 'true', item.origin)
    }
  }
  const shown = item.type === 'scalar' ? JSON.stringify(item.value) : found
  const message = `expected ${wanted}, as the parameter ${JSON.stringify(key)} is, got ${shown}`
  const fix = 'give a value of that type, or declare the parameter with another default.'
  report.problem(item.origin, { code: 'CONFIG_INVALID', message, fix })
  return item
}

// YAML's numbers, of any sign; not `0x10` or `Infinity`, which Number() would take.
function isNumber(text: string): boolean {
  return /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text) && Number.isFinite(Number(text))
}

// A number that stands for text keeps its spelling: `1.0` is not `1`.
function writtenText({ origin }: LocatedNode): string {
  return origin.source.text.slice(origin.start, origin.end)
}

function typeName(node: LocatedNode): string {
  if (node.type === 'map') return 'a mapping'
  if (node.type === 'seq') return 'a list'
  if (node.value === null) return 'null'
  return { string: 'text', number: 'a number', boolean: 'true or false' }[
    typeof node.value as 'string' | 'number' | 'boolean'
  ]
}
