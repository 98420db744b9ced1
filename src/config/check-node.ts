// A located tree against a schema: the value with its defaults, or problems at the text that is wrong. Arms share subtrees, so
// a subtree is checked once for each schema.
import type * as z from 'zod'
import { type ErrorCode, ExperimentFile } from '../contracts/index.ts'
import { checkValue, closest, suggest, type ValueIssue } from '../kernel/index.ts'
import { formatPath } from './dotted-path.ts'
import { childOf, type LocatedMap, type LocatedNode, type Path, pathOf, toJs } from './located.ts'
import type { Report } from './report.ts'
import { safeName } from './safe-name.ts'
import { descriptionAt, homesOf, keysAt } from './schema-walk.ts'

export interface CheckOptions {
  /** Code of what is not an unknown key. */
  readonly code?: ErrorCode | undefined
  /** What people may write in the file, for suggestions and misplaced keys. */
  readonly written?: z.ZodType | undefined
}

export class NodeChecker {
  readonly report: Report
  readonly #options: CheckOptions
  readonly #known = new WeakMap<LocatedNode, Map<z.ZodType, { value: unknown } | undefined>>()

  constructor(report: Report, options: CheckOptions = {}) {
    this.report = report
    this.#options = { written: ExperimentFile, ...options }
  }

  /** The value of a node with its defaults; undefined when the report says what is wrong with it. */
  check<S extends z.ZodType>(schema: S, node: LocatedNode, options: CheckOptions = {}): z.output<S> | undefined {
    const known = this.#known.get(node) ?? new Map<z.ZodType, { value: unknown } | undefined>()
    this.#known.set(node, known)
    if (!known.has(schema)) known.set(schema, this.#parse(schema, node, { ...this.#options, ...options }))
    // The entry was made from this very schema.
    return known.get(schema)?.value as z.output<S> | undefined
  }

  /** Checks a mapping field by field, so that fields which arms share are checked once. */
  checkFields<S extends z.ZodObject>(schema: S, map: LocatedMap, options: CheckOptions = {}): z.output<S> | undefined {
    const output: Record<string, unknown> = {}
    let isValid = true
    for (const [key, field] of Object.entries<z.ZodType>(schema.shape)) {
      const node = map.entries.get(key)?.value
      if (node !== undefined) {
        const value = this.check(field, node, options)
        if (value === undefined) isValid = false
        else output[key] = value
        continue
      }
      const absent = checkValue(field, undefined)
      if (absent.ok) {
        if (absent.value !== undefined) output[key] = absent.value
        continue
      }
      isValid = false
      for (const issue of absent.issues) this.#complain({ ...issue, path: [key] }, schema, map, options)
    }
    const known = Object.keys(schema.shape)
    const unknown = [...map.entries.keys()].filter((key) => !known.includes(key))
    for (const key of unknown) {
      this.#complain({ path: [], code: 'unknown_key', message: '', keys: [key], known }, schema, map, options)
    }
    return isValid && unknown.length === 0 ? (Object.freeze(output) as z.output<S>) : undefined // every field was checked
  }

  #parse(schema: z.ZodType, node: LocatedNode, options: CheckOptions): { value: unknown } | undefined {
    const result = checkValue(schema, toJs(node))
    if (result.ok) return { value: result.value }
    for (const issue of result.issues) this.#complain(issue, schema, node, options)
    return undefined
  }

  #complain(issue: ValueIssue, schema: z.ZodType, root: LocatedNode, options: CheckOptions): void {
    const { written, code = 'CONFIG_INVALID' } = { ...this.#options, ...options }
    const { node, below } = nearest(root, issue.path)
    if (this.report.isReported(node.origin, JSON.stringify([issue.message, issue.keys, below]))) return
    if (issue.code === 'unknown_key') {
      for (const key of issue.keys ?? []) this.#unknownKey(key, issue, node, written)
      return
    }
    const name = issue.path.at(-1) ?? pathOf(root.origin).at(-1)
    const isName = name === 'name' && below.length === 0 && node.type === 'scalar' && typeof node.value === 'string'
    if (isName) {
      const fix = `such as ${JSON.stringify(safeName(String(node.value)))}.`
      this.report.problem(node.origin, { code: 'CONFIG_NAME', message: issue.message, fix })
      return
    }
    const fix = fixOf(issue, schema, node, below, written)
    this.report.problem(node.origin, { code, message: issue.message, fix }, below)
  }

  #unknownKey(key: string, { known = [] }: ValueIssue, node: LocatedNode, written: z.ZodType | undefined): void {
    const at = (node.type === 'map' ? node.entries.get(key)?.at : undefined) ?? node.origin
    const writable = written === undefined ? [] : keysAt(written, pathOf(node.origin))
    const names = [...new Set([...known, ...writable])]
    const homes = written === undefined || closest(key, names) !== undefined ? [] : homesOf(written, key)
    const [home] = homes.filter((each) => !/^(?:run|runs|base_run|matrix|continual|stages)\b/.test(each))
    const fix = home === undefined ? suggest(key, names, misplaced(key, names)) : `\`${key}\` belongs in \`${home}\`.`
    this.report.problem(at, { code: 'CONFIG_UNKNOWN_KEY', message: `unknown key ${JSON.stringify(key)}`, fix })
  }
}

// Parameters of plugins are known by their plugins alone; these are those of most algorithms.
const commonParams = ['learning_rate', 'max_steps', 'batch_size', 'num_epochs', 'lora_rank', 'num_samples']

function misplaced(key: string, names: readonly string[]): { more?: string | undefined } {
  if (names.includes('kind') && names.includes('params')) return { more: 'What the plugin takes goes into `params`.' }
  return commonParams.includes(key) ? { more: `Of an algorithm, \`${key}\` goes into algorithm.params.` } : {}
}

/** The node at a path, or the nearest above it with the steps that are missing. */
export function nearest(root: LocatedNode, path: Path): { node: LocatedNode; below: Path } {
  let node = root
  for (const [i, step] of path.entries()) {
    const child = childOf(node, step)
    if (child === undefined) return { node, below: path.slice(i) }
    node = child
  }
  return { node, below: [] }
}

function fixOf(
  issue: ValueIssue,
  schema: z.ZodType,
  node: LocatedNode,
  below: Path,
  written: z.ZodType | undefined,
): string {
  if (issue.known !== undefined && node.type === 'scalar') {
    const isQuoted = typeof node.value === 'string' && issue.known.includes(node.value)
    return isQuoted ? `write ${node.value}, without quotes.` : suggest(String(node.value), issue.known)
  }
  const about =
    meaningOf(schema, issue.path) ?? (written === undefined ? undefined : meaningOf(written, pathOf(node.origin)))
  const label = about?.label ?? pathOf(node.origin).findLast((step) => typeof step === 'string')
  const text = about === undefined ? undefined : label === undefined ? about.text : `\`${label}\`: ${about.text}`
  if (below.length > 0) return text === undefined ? `add \`${formatPath(below)}\`.` : `add it. ${text}`
  return text ?? 'give the value that is asked for.'
}

// What a value is for; an item of a list has no words of its own and is explained by its list.
function meaningOf(schema: z.ZodType, path: Path): { text: string; label: string | undefined } | undefined {
  for (let length = path.length; length >= 0; length--) {
    const text = descriptionAt(schema, path.slice(0, length))
    const label = path.slice(0, length).findLast((step) => typeof step === 'string')
    if (text !== undefined) return { text, label: typeof label === 'string' ? label : undefined }
  }
  return undefined
}
