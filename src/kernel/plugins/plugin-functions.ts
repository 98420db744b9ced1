// The functions that each type of plugin has, and what is wrong with those of a definition. `Pace` catches what would fail
// only in the middle of a run: a transform that returns a promise, a metric that does not return its number at once.
import type { PluginType, PluginTypes } from '../../contracts/index.ts'
import { inWords } from './in-words.ts'

/** Something wrong with a definition, and how to put it right. */
export type Fault = { message: string; fix?: string }

/** `stream` yields, `now` returns a value, `later` returns a promise or may. */
type Pace = 'stream' | 'now' | 'later'

type FunctionName<P> = P extends unknown
  ? { [F in keyof P]-?: NonNullable<P[F]> extends (...args: never) => unknown ? F : never }[keyof P] & string
  : never

type Entry<P> = readonly [FunctionName<P>, Pace]

// The first of each type is required, the others may be absent. An algorithm has one of its first two.
const functions: { [T in PluginType]: readonly [Entry<PluginTypes[T]>, ...Entry<PluginTypes[T]>[]] } = {
  algorithm: [
    ['buildBatch', 'later'],
    ['train', 'later'],
    ['setup', 'later'],
    ['stepMetrics', 'now'],
    ['countBatches', 'later'],
    ['phases', 'now'],
  ],
  backend: [['open', 'later']],
  transform: [['run', 'stream']],
  data_source: [['rows', 'stream']],
  data_store: [['open', 'later']],
  log_store: [['open', 'later']],
  metric: [
    ['compute', 'now'],
    ['minSamples', 'now'],
  ],
  verifier: [['verify', 'later']],
  inference_client: [['open', 'later']],
  callback: [['open', 'later']],
  deployer: [
    ['deploy', 'later'],
    ['rollback', 'later'],
  ],
  agent: [['run', 'later']],
  environment: [['open', 'later']],
  renderer: [['open', 'later']],
  proposer: [['propose', 'later']],
  strategy: [['next', 'now']],
  keep_rule: [['decide', 'now']],
  provider: [['open', 'later']],
  trace_source: [['pull', 'stream']],
}

/** What is wrong with the functions of a definition. */
export function functionFaults(type: PluginType, fields: Readonly<Record<string, unknown>>): Fault[] {
  const present = functions[type].filter(([name]) => fields[name] !== undefined)
  return [
    ...missingFunction(type, fields),
    ...present.flatMap(([name, pace]) => functionFault(name, pace, fields[name])),
  ]
}

function missingFunction(type: PluginType, fields: Readonly<Record<string, unknown>>): Fault[] {
  if (type === 'algorithm') return algorithmFault(fields)
  const [[name, pace]] = functions[type]
  return fields[name] === undefined
    ? [{ message: `\`${name}\` is missing`, fix: `write ${signature(name, pace)}.` }]
    : []
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
