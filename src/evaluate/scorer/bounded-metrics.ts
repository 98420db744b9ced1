// Metrics over rewards of which some are missing (ARCHITECTURE.md, decision 11). A missing reward stays in the denominator: it
// may have been 0 or 1, and the metric is computed with both. These are its bounds. The value that counts is the worse of the
// two, so that no failure of infrastructure, and no recipe that provokes one, ever lifts a score. Where no reward is known at
// all there is no value, only bounds.
import {
  type Bounds,
  type Direction,
  type MetricRange,
  type MetricResult,
  type Metrics,
  MetricTable,
  type MetricTables,
  type MetricTask,
  type TaskAnswers,
  type ThinClass,
  type Usage,
} from '../../contracts/index.ts'
import { EvsysError, equipPlugin, keyedRandom, messageOf, type PluginServices } from '../../kernel/index.ts'
import { meanOf, tInterval, wilson } from '../../stats/index.ts'

export interface ReadyMetric {
  /** As the benchmark names it: `pass@3`. */
  readonly name: string
  readonly direction: Direction
  readonly range?: Readonly<MetricRange> | undefined
  /** It is a mean over tasks that the rewards alone give. */
  readonly fromRewards?: boolean | undefined
  /** It reads the labels of tasks: those are checked before anything is answered. */
  readonly readsLabels?: boolean | undefined
  /** The classes that it is averaged over, with their tasks. */
  readonly classes?: ((tasks: readonly MetricTask[]) => readonly ThinClass[]) | undefined
  /** Which of the numbers of its plugin it is; absent: the one that goes by its name. */
  readonly key?: string | undefined
  compute(
    rewards: number[][],
    usage: Usage[][],
    answers: (string | undefined)[][],
    tasks?: readonly MetricTask[] | undefined,
  ): unknown
}

/** What is known of the samples beside their rewards: by task, then sample. */
export interface Samples {
  readonly usage: readonly (readonly Usage[])[]
  readonly answers: TaskAnswers
  /** Frozen; absent where rewards are all there is. */
  readonly tasks?: readonly MetricTask[] | undefined
}

/** Rewards by task, then sample; null where infrastructure failed. */
export type PartialRewards = readonly (readonly (number | null)[])[]

export function boundedMetrics(
  metrics: readonly ReadyMetric[],
  rewards: PartialRewards,
  samples: Samples,
): { metrics: Metrics; bounds: Bounds } {
  const known = rewards.flat().filter((reward) => reward !== null).length
  const isOpen = known < rewards.flat().length
  const values: [string, number][] = []
  const bounds: [string, [number, number]][] = []
  for (const metric of metrics) {
    const low = computeMetric(metric, rewards, samples, 0)
    const high = isOpen ? computeMetric(metric, rewards, samples, 1) : low
    if (low === undefined || high === undefined) continue // the usage or the answers that it needs are not known
    if (low !== high) bounds.push([metric.name, [Math.min(low, high), Math.max(low, high)]])
    if (low !== high && known === 0) continue
    values.push([metric.name, metric.direction === 'min' ? Math.max(low, high) : Math.min(low, high)])
  }
  return { metrics: Object.fromEntries(values), bounds: Object.fromEntries(bounds) }
}

/** One number of a metric, with `missing` in the place of missing rewards. */
export function computeMetric(
  metric: ReadyMetric,
  rewards: PartialRewards,
  samples: Samples,
  missing: number,
): number | undefined {
  const { value, values } = computeResult(metric, rewards, samples, missing)
  return metric.key === undefined ? value : values?.[metric.key]
}

/** All that a metric gives, checked: it is code of a plugin. */
export function computeResult(
  { name, compute }: ReadyMetric,
  rewards: PartialRewards,
  { usage, answers, tasks }: Samples,
  missing: number,
): MetricResult {
  let result: unknown
  try {
    // Copies: what one metric does to its arguments, the next must not see.
    const filled = rewards.map((task) => task.map((reward) => reward ?? missing))
    result = compute(
      filled,
      usage.map((task) => task.map((each) => ({ ...each }))),
      answers.map((task) => [...task]),
      tasks && [...tasks],
    )
  } catch (cause) {
    const fix = EvsysError.is(cause) ? cause.fix : undefined
    throw new EvsysError('PLUGIN_FAILED', `metric "${name}": ${messageOf(cause)}`, { cause, fix })
  }
  if (result === undefined) return {}
  if (typeof result === 'number' && Number.isFinite(result)) return { value: result }
  const fault = resultFault(result)
  if (fault === undefined) return result as MetricResult // checked just above
  throw new EvsysError('PLUGIN_FAILED', `metric "${name}" ${fault}`, {
    fix: 'return a number, { value, values, table }, or undefined where usage that it needs was not reported.',
  })
}

/** A key ends up in the name of a metric, where brackets mean a part of the tasks. */
const keyPattern = /^[^[\]\p{Cc}]{1,100}$/u

function resultFault(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || 'then' in result) return 'returned no finite number'
  const { value, values = {}, table, ...rest } = result as Record<string, unknown>
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return `returned ${JSON.stringify(unknown)}, which means nothing`
  if (value !== undefined && !isNumber(value)) return 'returned a value that is no finite number'
  if (typeof values !== 'object' || values === null) return 'returned values that are no mapping'
  for (const [key, each] of Object.entries(values)) {
    if (!keyPattern.test(key)) return `returned the key ${JSON.stringify(key)}: at most 100 characters, no brackets`
    if (each !== undefined && !isNumber(each)) return `returned no finite number for ${JSON.stringify(key)}`
  }
  if (table === undefined) return undefined
  const checked = MetricTable.safeParse(table)
  if (!checked.success) return 'returned a table without rows, columns and cells'
  const { rows, columns, cells } = checked.data
  const isWhole = cells.length === rows.length && cells.every((row) => row.length === columns.length)
  return isWhole ? undefined : 'returned a table whose cells do not fit its rows and columns'
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value)
}

/** Every number of the metrics as a metric, and their tables, by what they give of all tasks: `per_class/f1:billing`. */
export function metricParts(
  metrics: readonly ReadyMetric[],
  rewards: PartialRewards,
  samples: Samples,
): { metrics: ReadyMetric[]; tables: MetricTables } {
  const tables: [string, MetricTable][] = []
  const parts = metrics.flatMap((metric): ReadyMetric[] => {
    const { values = {}, table } = computeResult(metric, rewards, samples, 0)
    if (table !== undefined) tables.push([metric.name, table])
    const keys = Object.keys(values).filter((key) => values[key] !== undefined)
    return [metric, ...keys.map((key) => ({ ...metric, name: `${metric.name}/${key}`, key, fromRewards: false }))]
  })
  return { metrics: parts, tables: Object.fromEntries(tables) }
}

// The interval of a score over the tasks: how far it could be off because these tasks, and not others like them, were asked.
// Each task counts once. A metric that is a mean over tasks has a closed form; of any other, tasks are drawn again and again.

/** Coverage, as of all scores. */
const confidence = 0.9
const resamples = 400
/** Beyond so many tasks times resamples, drawing again costs more than it shows. */
const mostWork = 4_000_000

type Pair = readonly [number, number]

/** Intervals of the metrics that have one. Where rewards are missing they reach from the worst case to the best. */
export function metricIntervals(metrics: readonly ReadyMetric[], rewards: PartialRewards, samples: Samples): Bounds {
  const isOpen = rewards.some((task) => task.includes(null))
  return Object.fromEntries(
    metrics.flatMap((metric) => {
      const low = intervalOf(metric, rewards, samples, 0)
      const high = isOpen ? intervalOf(metric, rewards, samples, 1) : low
      if (low === undefined || high === undefined) return []
      return [[metric.name, [Math.min(low[0], high[0]), Math.max(low[1], high[1])] as [number, number]]]
    }),
  )
}

function intervalOf(metric: ReadyMetric, rewards: PartialRewards, samples: Samples, missing: number): Pair | undefined {
  const n = rewards.length
  const total = computeMetric(metric, rewards, samples, missing)
  if (n < 2 || total === undefined) return undefined
  const only = (i: number) => computeMetric(metric, pick(rewards, [i]), picked(samples, [i]), missing)
  const values = Array.from({ length: n }, (_, i) => only(i)).filter((value) => value !== undefined)
  const mean = meanOf(values)
  if (values.length > 1 && Math.abs(mean - total) <= 1e-9 * Math.max(1, Math.abs(total))) return ofMean(values)
  if (n * resamples > mostWork) return undefined
  const drawn = Array.from({ length: resamples }, (_, draw) => {
    const random = keyedRandom(0, 'interval', metric.name, draw)
    const tasks = Array.from({ length: n }, () => random.int(n))
    return computeMetric(metric, pick(rewards, tasks), picked(samples, tasks), missing)
  })
  const sorted = drawn.filter((value) => value !== undefined).sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))]
  const [lower, upper] = [at((1 - confidence) / 2), at((1 + confidence) / 2)]
  return lower === undefined || upper === undefined || lower === upper ? undefined : [lower, upper]
}

// Right and wrong answers by their share; other values by their mean, unless they show no spread, which is not certainty.
function ofMean(values: readonly number[]): Pair | undefined {
  if (values.every((value) => value === 0 || value === 1)) {
    const { lower, upper } = wilson(values.filter((value) => value === 1).length, values.length, confidence)
    return [lower, upper]
  }
  const { interval, standardError } = tInterval(values, confidence)
  if (interval === null || standardError === 0) return undefined
  // A mean of shares is a share.
  const isShare = values.every((value) => value >= 0 && value <= 1)
  return isShare ? [Math.max(0, interval.lower), Math.min(1, interval.upper)] : [interval.lower, interval.upper]
}

export function pick<T>(all: readonly T[], indices: readonly number[]): T[] {
  return indices.flatMap((i) => {
    const each = all[i]
    return each === undefined ? [] : [each]
  })
}

export function picked({ usage, answers, tasks }: Samples, indices: readonly number[]): Samples {
  return { usage: pick(usage, indices), answers: pick(answers, indices), tasks: tasks && pick(tasks, indices) }
}

// A score from rewards that were reached elsewhere: by the tests of task folders. The same metrics, bounds and intervals as of answers.
export interface RewardScore {
  readonly metrics: Metrics
  readonly bounds: Bounds
  readonly intervals: Bounds
  readonly n_infra_failed: number
}

/** Scores rewards by task, then sample; null: infrastructure failed, and the reward is open. */
export function scoreRewards(
  names: readonly string[],
  rewards: PartialRewards,
  usage: readonly (readonly Usage[])[],
  services: PluginServices,
): RewardScore {
  const metrics = rewardMetrics(names, Math.min(...rewards.map((task) => task.length)), services)
  const all = { usage, answers: rewards.map((task) => task.map(() => undefined)) }
  const n_infra_failed = rewards.flat().filter((reward) => reward === null).length
  const isBlank = n_infra_failed === rewards.flat().length
  return {
    ...boundedMetrics(metrics, rewards, all),
    intervals: isBlank ? {} : metricIntervals(metrics, rewards, all),
    n_infra_failed,
  }
}

/** Metrics by kind for so many attempts at each task; one that is unknown or needs more of them is an error. */
export function rewardMetrics(names: readonly string[], samples: number, services: PluginServices): ReadyMetric[] {
  return names.map((kind) => {
    const { plugin, context } = equipPlugin('metric', { kind, params: {} }, services)
    const needed = plugin.minSamples?.(context.params) ?? 1
    if (needed > samples) {
      const message = `${kind} needs ${needed} attempts at each task, and there are ${samples}`
      throw new EvsysError('CONFIG_INVALID', message, { fix: `ask for more: --num-samples ${needed}.` })
    }
    return {
      name: kind,
      direction: plugin.direction,
      range: plugin.range,
      compute: (all, used, answers) => plugin.compute(all, { params: context.params, usage: used, answers }),
    }
  })
}
