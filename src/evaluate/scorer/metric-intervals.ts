// The interval of a score over the tasks: how far it could be off because these tasks, and not others like them, were asked.
// Each task counts once. A metric that is a mean over tasks has a closed form; of any other, tasks are drawn again and again.
import type { Bounds } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { tInterval, wilson } from '../../stats/index.ts'
import { computeMetric, type OpenRewards, type ReadyMetric, type Samples } from './bounded-metrics.ts'

/** Coverage, as of all scores. */
const confidence = 0.9
const resamples = 400
/** Beyond so many tasks times resamples, drawing again costs more than it tells. */
const mostWork = 4_000_000

type Pair = readonly [number, number]

/** Intervals of the metrics that have one. Where rewards are missing they reach from the worst case to the best. */
export function metricIntervals(metrics: readonly ReadyMetric[], rewards: OpenRewards, samples: Samples): Bounds {
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

function intervalOf(metric: ReadyMetric, rewards: OpenRewards, samples: Samples, missing: number): Pair | undefined {
  const n = rewards.length
  const total = computeMetric(metric, rewards, samples, missing)
  if (n < 2 || total === undefined) return undefined
  const only = (i: number) => computeMetric(metric, pick(rewards, [i]), picked(samples, [i]), missing)
  const values = Array.from({ length: n }, (_, i) => only(i)).filter((value) => value !== undefined)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
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

function pick<T>(all: readonly T[], indices: readonly number[]): T[] {
  return indices.flatMap((i) => {
    const each = all[i]
    return each === undefined ? [] : [each]
  })
}

function picked({ usage, answers }: Samples, indices: readonly number[]): Samples {
  return { usage: pick(usage, indices), answers: pick(answers, indices) }
}
