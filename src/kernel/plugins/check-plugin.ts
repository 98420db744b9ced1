// What makes an object a plugin, checked at run time: JavaScript authors, and TypeScript that was not compiled, get the precise
// complaints that a compiler would give. It does not know where the object came from.
import type * as z from 'zod'
import {
  type AnyPlugin,
  Direction,
  MetricRange,
  Needs,
  PluginType,
  type PluginTypes,
  RowFormat,
} from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import { suggest } from '../suggest.ts'
import { checkValue } from '../zod-issues.ts'

/** An exported value as a plugin, or what is wrong with it. */
export function checkPlugin(value: unknown): { plugin: AnyPlugin } | { problems: Problem[] } {
  if (!isPlugin(value)) {
    const type = isObject(value) ? Reflect.get(value, 'type') : undefined
    return { problems: [problem({ message: `${inWords(value)} is no plugin`, fix: definerFix(type) })] }
  }
  const problems = definitionProblems(value)
  return problems.length > 0 ? { problems } : { plugin: value }
}

/** Whether a value looks so much like a plugin that its author must have meant it to be one. */
export function resemblesPlugin(value: unknown): boolean {
  // A mere { kind, params } is how an experiment names a plugin, and a fine thing to export.
  return isObject(value) && ['kind', 'summary'].every((field) => typeof Reflect.get(value, field) === 'string')
}

/** Everything that is wrong with a definition, its type included. */
export function definitionProblems(definition: object): Problem[] {
  const fields: Readonly<Record<string, unknown>> = { ...definition }
  const type = PluginType.safeParse(fields.type)
  if (!type.success) {
    return [problem({ message: `${inWords(fields.type)} is no type of plugin`, fix: definerFix(undefined) })]
  }
  const faults = [
    ...kindFaults(fields.kind),
    ...summaryFaults(fields.summary),
    ...schemaFaults(fields.params),
    ...valueFaults('needs', Needs.optional(), fields.needs),
    ...functionFaults(type.data, fields),
    ...(type.data === 'algorithm' ? valueFaults('rowFormat', RowFormat, fields.rowFormat) : []),
    ...(type.data === 'metric' ? valueFaults('direction', Direction, fields.direction) : []),
    ...(type.data === 'metric' ? valueFaults('range', MetricRange.optional(), fields.range) : []),
  ]
  const name = typeof fields.kind === 'string' && fields.kind.trim() !== '' ? ` "${fields.kind}"` : ''
  return faults.map(({ message, fix }) => problem({ message: `${typeLabel(type.data)}${name}: ${message}`, fix }))
}

// As in YAML, and a family may leave one whole number open.
const definedKind = /^[A-Za-z][\w@^+./-]*(?:\{[A-Za-z_]\w*\}[\w@^+./-]*)?$/
const kindFix =
  'a kind starts with a letter and holds letters, digits and _ @ ^ + . / -; a family such as pass@{k} leaves one number open.'

function kindFaults(kind: unknown): Fault[] {
  if (kind === undefined) return [{ message: '`kind` is missing', fix: "name it: kind: 'my_kind'." }]
  if (typeof kind !== 'string') return [{ message: `\`kind\` must be text, got ${inWords(kind)}`, fix: kindFix }]
  if (kind.trim() === '') return [{ message: '`kind` is empty', fix: kindFix }]
  return definedKind.test(kind) ? [] : [{ message: `${inWords(kind)} cannot be a kind`, fix: kindFix }]
}

function summaryFaults(summary: unknown): Fault[] {
  if (typeof summary !== 'string' || summary.trim() === '') {
    return [{ message: '`summary` is missing', fix: "say what it does: summary: 'Keeps the first row of each key.'." }]
  }
  const isOneLine = !/[\r\n]/.test(summary.trim())
  return isOneLine ? [] : [{ message: '`summary` has several lines', fix: 'say it in one sentence.' }]
}

function schemaFaults(params: unknown): Fault[] {
  // Not instanceof: the project may have another copy of zod.
  const isZod4 =
    isObject(params) && isObject(Reflect.get(params, '_zod')) && typeof Reflect.get(params, 'safeParse') === 'function'
  if (isZod4) return []
  const got = isObject(params) && '_def' in params ? 'a schema of another zod version' : inWords(params)
  const fix = "import { z } from 'evsys/plugin' and write params: z.strictObject({ ... })."
  return [{ message: `\`params\` must be a zod 4 schema, got ${got}`, fix }]
}

function valueFaults(field: string, schema: z.ZodType, value: unknown): Fault[] {
  const result = checkValue(schema, value)
  if (result.ok) return []
  return result.issues.map(({ path, message, keys, known }) => ({
    message: `\`${[field, ...path].join('.')}\`: ${message}`,
    fix: known === undefined ? undefined : suggest(keys?.[0] ?? String(value), known),
  }))
}

function definerFix(type: unknown): string {
  const known = PluginType.safeParse(type)
  const name = known.success
    ? `define${typeLabel(known.data).replace(/(?:^|\s)(\w)/g, (_match, letter: string) => letter.toUpperCase())}`
    : 'a define* function, such as defineTransform,'
  return `make it with ${name} from 'evsys/plugin'.`
}

function problem(fault: Fault): Problem {
  return { code: 'PLUGIN_INVALID', ...fault }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

// The mark of everything that `define*` made. A registered symbol is shared by every copy of this module, so that a plugin
// made by another copy of evsys is still one.
const brand = Symbol.for('evsys.plugin')

/** Marks an object as made by `define*`. Not enumerable: a spread copy is unmarked and has to be defined again. */
export function markPlugin<P extends object>(plugin: P): P {
  return Object.defineProperty(plugin, brand, { value: true })
}

/** Whether a value was made by a `define*` function. */
export function isPlugin(value: unknown): value is AnyPlugin {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true
}

// The functions that each type of plugin has, and what is wrong with those of a definition. `Pace` catches what would fail
// only in the middle of a run: a transform that returns a promise, a metric that does not return its number at once.
type Fault = { message: string; fix?: string | undefined }

/** `stream` yields, `now` returns a value, `later` returns a promise or may. */
type Pace = 'stream' | 'now' | 'later'

type FunctionName<P> = P extends unknown
  ? { [F in keyof P]-?: NonNullable<P[F]> extends (...args: never) => unknown ? F : never }[keyof P] & string
  : never

// The first of each type is required, the others may be absent. An algorithm has one of its first two.
const functions: { [T in PluginType]: Partial<Record<FunctionName<PluginTypes[T]>, Pace>> } = {
  algorithm: {
    buildBatch: 'later',
    train: 'later',
    setup: 'later',
    stepMetrics: 'now',
    countBatches: 'later',
    phases: 'now',
  },
  backend: { open: 'later' },
  transform: { run: 'stream' },
  data_source: { rows: 'stream' },
  data_store: { open: 'later' },
  log_store: { open: 'later' },
  metric: { compute: 'now', minSamples: 'now' },
  verifier: { verify: 'later' },
  inference_client: { open: 'later' },
  callback: { open: 'later' },
  deployer: { deploy: 'later', rollback: 'later' },
  agent: { run: 'later' },
  environment: { open: 'later' },
  renderer: { open: 'later' },
  proposer: { propose: 'later' },
  strategy: { next: 'now' },
  keep_rule: { decide: 'now' },
  provider: { open: 'later' },
  trace_source: { pull: 'stream' },
}

function functionFaults(type: PluginType, fields: Readonly<Record<string, unknown>>): Fault[] {
  const known = Object.entries(functions[type])
  const present = known.filter(([name]) => fields[name] !== undefined)
  const [first] = known
  return [
    ...(type === 'algorithm' ? algorithmFault(fields) : missingFunction(first, fields)),
    ...present.flatMap(([name, pace]) => functionFault(name, pace, fields[name])),
  ]
}

function missingFunction(first: [string, Pace] | undefined, fields: Readonly<Record<string, unknown>>): Fault[] {
  if (first === undefined || fields[first[0]] !== undefined) return []
  return [{ message: `\`${first[0]}\` is missing`, fix: `write ${signature(...first)}.` }]
}

function algorithmFault({ buildBatch, train }: Readonly<Record<string, unknown>>): Fault[] {
  if (buildBatch !== undefined && train !== undefined) {
    return [{ message: '`buildBatch` and `train` exclude each other', fix: 'keep one of them.' }]
  }
  if (buildBatch !== undefined || train !== undefined) return []
  const fix = 'write one step, async buildBatch(context) { ... }, or the whole run, async train(context) { ... }.'
  return [{ message: '`buildBatch` is missing', fix }]
}

function functionFault(name: string, pace: Pace, value: unknown): Fault[] {
  const fix = `write ${signature(name, pace)}.`
  if (typeof value !== 'function') return [{ message: `\`${name}\` must be a function, got ${inWords(value)}`, fix }]
  const made = value.constructor.name
  if (pace === 'stream' && made === 'AsyncFunction') return [{ message: `\`${name}\` must yield, not return`, fix }]
  if (pace === 'now' && made !== 'Function') return [{ message: `\`${name}\` must return its result at once`, fix }]
  if (pace === 'later' && made.endsWith('GeneratorFunction')) {
    return [{ message: `\`${name}\` must return, not yield`, fix }]
  }
  return []
}

function signature(name: string, pace: Pace): string {
  return `${{ stream: 'async *', now: '', later: 'async ' }[pace]}${name}(...) { ... }`
}

// What a value is, for a message about a value of the wrong sort.
/** `nothing`, `a list`, `an object`, `a class`, `"text"`, `3`. */
export function inWords(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') {
    return /^class\b/.test(Function.prototype.toString.call(value)) ? 'a class' : 'a function'
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** A type of plugin in words: `data_source` is a "data source". */
export function typeLabel(type: PluginType): string {
  return type.replaceAll('_', ' ')
}

/** A type of plugin as `evsys list` takes it: `strategies`. */
export function typePlural(type: PluginType): string {
  return type.endsWith('y') ? `${type.slice(0, -1)}ies` : `${type}s`
}
