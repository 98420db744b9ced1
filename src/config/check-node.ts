// A located tree against a schema: the value with its defaults, or problems at the text that is wrong. Arms share subtrees, so
// a subtree is checked once for each schema.
import type * as z from 'zod'
import { type ErrorCode, ExperimentFile, type Location } from '../contracts/index.ts'
import { checkValue, closest, suggest, type ValueIssue } from '../kernel/index.ts'
import { formatPath } from './dotted-path.ts'
import { childOf, type LocatedMap, type LocatedNode, type Path, pathOf, textOf, toJs } from './located.ts'
import { locationOf, type Report } from './report.ts'
import { safeName } from './safe-name.ts'
import { descriptionAt, homesOf, keysAt } from './schema-walk.ts'

export class NodeChecker {
  readonly report: Report
  readonly #written: z.ZodType
  readonly #known = new WeakMap<LocatedNode, Map<z.ZodType, { value: unknown } | undefined>>()

  /** `written`: what people may write in the file, for suggestions and misplaced keys. */
  constructor(report: Report, written: z.ZodType = ExperimentFile) {
    this.report = report
    this.#written = written
  }

  /** The value of a node with its defaults; undefined when the report says what is wrong with it. */
  check<S extends z.ZodType>(schema: S, node: LocatedNode, code?: ErrorCode): z.output<S> | undefined {
    const known = this.#known.get(node) ?? new Map<z.ZodType, { value: unknown } | undefined>()
    this.#known.set(node, known)
    if (!known.has(schema)) known.set(schema, this.#parse(schema, node, code))
    // The entry was made from this very schema.
    return known.get(schema)?.value as z.output<S> | undefined
  }

  /** Checks a mapping field by field, so that fields which arms share are checked once. */
  checkFields<S extends z.ZodObject>(schema: S, map: LocatedMap): z.output<S> | undefined {
    const output: Record<string, unknown> = {}
    let isValid = true
    for (const [key, field] of Object.entries<z.ZodType>(schema.shape)) {
      const node = map.entries.get(key)?.value
      const absent = node === undefined ? checkValue(field, undefined) : undefined
      const value = node !== undefined ? this.check(field, node) : absent?.ok ? absent.value : undefined
      if (value !== undefined) output[key] = value
      else if (absent?.ok !== true) isValid = false
      if (absent?.ok === false)
        for (const issue of absent.issues) this.#complain({ ...issue, path: [key] }, schema, map)
    }
    const known = Object.keys(schema.shape)
    const unknown = [...map.entries.keys()].filter((key) => !known.includes(key))
    for (const key of unknown) {
      this.#complain({ path: [], code: 'unknown_key', message: '', keys: [key], known }, schema, map)
    }
    return isValid && unknown.length === 0 ? (Object.freeze(output) as z.output<S>) : undefined // every field was checked
  }

  #parse(schema: z.ZodType, node: LocatedNode, code?: ErrorCode): { value: unknown } | undefined {
    const result = checkValue(schema, toJs(node))
    if (result.ok) return { value: result.value }
    for (const issue of result.issues) this.#complain(issue, schema, node, code)
    return undefined
  }

  /** `code` is that of what is no unknown key. */
  #complain(issue: ValueIssue, schema: z.ZodType, root: LocatedNode, code: ErrorCode = 'CONFIG_INVALID'): undefined {
    const { node, below } = nearest(root, issue.path)
    if (this.report.isReported(node.origin, JSON.stringify([issue.message, issue.keys, below]))) return
    if (issue.code === 'unknown_key') {
      for (const key of issue.keys ?? []) this.#unknownKey(key, issue, node)
      return
    }
    const step = issue.path.at(-1) ?? pathOf(root.origin).at(-1)
    const name = step === 'name' && below.length === 0 ? textOf(node) : undefined
    if (name !== undefined) {
      const fix = `such as ${JSON.stringify(safeName(name))}.`
      return this.report.problem(node.origin, { code: 'CONFIG_NAME', message: issue.message, fix })
    }
    const fix = this.#fixOf(issue, schema, node, below)
    this.report.problem(node.origin, { code, message: issue.message, fix }, below)
  }

  #unknownKey(key: string, { known = [] }: ValueIssue, node: LocatedNode): void {
    const at = (node.type === 'map' ? node.entries.get(key)?.at : undefined) ?? node.origin
    const names = [...new Set([...known, ...keysAt(this.#written, pathOf(node.origin))])]
    const homes = closest(key, names) === undefined ? homesOf(this.#written, key) : []
    const [home] = homes.filter((each) => !/^(?:run|runs|base_run|matrix|continual|stages)\b/.test(each))
    const placed =
      home === undefined ? suggest(key, names, misplaced(key, names)) : `\`${key}\` belongs in \`${home}\`.`
    const fix = key === 'enable_thinking' ? reasoningFix : placed
    this.report.problem(at, { code: 'CONFIG_UNKNOWN_KEY', message: `unknown key ${JSON.stringify(key)}`, fix })
  }

  #fixOf(issue: ValueIssue, schema: z.ZodType, node: LocatedNode, below: Path): string {
    if (issue.known !== undefined && node.type === 'scalar') {
      const isQuoted = typeof node.value === 'string' && issue.known.includes(node.value)
      return isQuoted ? `write ${node.value}, without quotes.` : suggest(String(node.value), issue.known)
    }
    const about = meaningOf(schema, issue.path) ?? meaningOf(this.#written, pathOf(node.origin))
    const label = about?.label ?? pathOf(node.origin).findLast((step) => typeof step === 'string')
    const text = about === undefined ? undefined : label === undefined ? about.text : `\`${label}\`: ${about.text}`
    if (below.length > 0) return text === undefined ? `add \`${formatPath(below)}\`.` : `add it. ${text}`
    return text ?? 'give the value that is asked for.'
  }
}

/** What `enable_thinking` is written as: training and every evaluation then render alike. */
export const reasoningFix =
  'whether a model reasons is part of its renderer: write `renderer_name` in the run’s model, such as qwen3_disable_thinking.'

// Parameters of plugins are known by their plugins alone; these are those of most algorithms.
const commonParams = ['learning_rate', 'max_steps', 'batch_size', 'num_epochs', 'lora_rank', 'num_samples']

function misplaced(key: string, names: readonly string[]): { more?: string | undefined } {
  if (names.includes('kind') && names.includes('params')) return { more: 'What the plugin takes goes into `params`.' }
  return commonParams.includes(key) ? { more: `Of an algorithm, \`${key}\` goes into algorithm.params.` } : {}
}

/** The place of the node at a path, or of what is missing there. */
export function locateIn(root: LocatedNode, path: Path): Location {
  const { node, below } = nearest(root, path)
  return locationOf(node.origin, below)
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

// What a value is for; an item of a list has no description and is explained by its list.
function meaningOf(schema: z.ZodType, path: Path): { text: string; label: string | undefined } | undefined {
  for (let length = path.length; length >= 0; length--) {
    const text = descriptionAt(schema, path.slice(0, length))
    const label = path.slice(0, length).findLast((step) => typeof step === 'string')
    if (text !== undefined) return { text, label }
  }
  return undefined
}
