// A score from rewards that were reached elsewhere: by the tests of task folders. The same metrics, bounds and intervals as of answers.
import type { Bounds, Metrics, Usage } from '../../contracts/index.ts'
import { EvsysError, equipPlugin, type PluginServices } from '../../kernel/index.ts'
import { boundedMetrics, type OpenRewards, type ReadyMetric } from './bounded-metrics.ts'
import { metricIntervals } from './metric-intervals.ts'

export interface RewardScore {
  readonly metrics: Metrics
  readonly bounds: Bounds
  readonly intervals: Bounds
  readonly n_infra_failed: number
}

/** Scores rewards by task, then sample; null: infrastructure failed, and the reward is open. */
export function scoreRewards(
  names: readonly string[],
  rewards: OpenRewards,
  usage: readonly (readonly Usage[])[],
  services: PluginServices,
): RewardScore {
  const samples = Math.min(...rewards.map((task) => task.length))
  const metrics = names.map((kind): ReadyMetric => {
    const { plugin, context } = equipPlugin('metric', { kind, params: {} }, services)
    const needed = plugin.minSamples?.(context.params) ?? 1
    if (needed > samples) {
      throw new EvsysError(
        'CONFIG_INVALID',
        `${kind} needs ${needed} attempts at each task, and there are ${samples}`,
        {
          fix: `ask for more: --num-samples ${needed}.`,
        },
      )
    }
    return {
      name: kind,
      direction: plugin.direction,
      compute: (all, used, answers) => plugin.compute(all, { params: context.params, usage: used, answers }),
    }
  })
  const all = { usage, answers: rewards.map((task) => task.map(() => undefined)) }
  const n_infra_failed = rewards.flat().filter((reward) => reward === null).length
  const isBlank = n_infra_failed === rewards.flat().length
  return {
    ...boundedMetrics(metrics, rewards, all),
    intervals: isBlank ? {} : metricIntervals(metrics, rewards, all),
    n_infra_failed,
  }
}
