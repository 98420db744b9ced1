// Metrics over rewards of which some are missing (ARCHITECTURE.md, decision 11). A missing reward stays in the denominator: it
// may have been 0 or 1, and the metric is computed with both. These are its bounds. The value that counts is the worse of the
// two, so that no failure of infrastructure, and no recipe that provokes one, ever lifts a score. Where no reward is known at
// all there is no value, only bounds.
import type { Bounds, Direction, Metrics, TaskAnswers, Usage } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'

/** A metric with its params at hand. */
export interface ReadyMetric {
  /** As the benchmark names it: `pass@3`. */
  readonly name: string
  readonly direction: Direction
  compute(rewards: number[][], usage: Usage[][], answers: (string | undefined)[][]): unknown
}

/** What is known of the samples beside their rewards: by task, then sample. */
export interface Samples {
  readonly usage: readonly (readonly Usage[])[]
  readonly answers: TaskAnswers
}

/** Rewards by task, then sample; null where infrastructure failed. */
export type OpenRewards = readonly (readonly (number | null)[])[]

export function boundedMetrics(
  metrics: readonly ReadyMetric[],
  rewards: OpenRewards,
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

/** One metric, with `missing` in the place of missing rewards. */
export function computeMetric(
  { name, compute }: ReadyMetric,
  rewards: OpenRewards,
  { usage, answers }: Samples,
  missing: number,
): number | undefined {
  let value: unknown
  try {
    // Copies: what one metric does to its arguments, the next must not see.
    const filled = rewards.map((task) => task.map((reward) => reward ?? missing))
    value = compute(
      filled,
      usage.map((task) => task.map((each) => ({ ...each }))),
      answers.map((task) => [...task]),
    )
  } catch (cause) {
    throw new EvsysError('PLUGIN_FAILED', `metric "${name}": ${messageOf(cause)}`, { cause })
  }
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new EvsysError('PLUGIN_FAILED', `metric "${name}" returned no finite number`, {
    fix: 'return a number, or undefined where usage that it needs was not reported.',
  })
}
