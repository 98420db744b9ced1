// The statistics of a job, in Harbor's names. A trial without a reward counts as 0 in its means; bounds that leave it open are ours.
import * as z from 'zod'
import { passAtK } from '../../stats/index.ts'
import type { Rewards, TrialResult } from '../trial/trial-result.ts'

type RewardMetric = 'mean' | 'max' | 'min' | 'sum'

const EvalStats = z.looseObject({
  n_trials: z.int(),
  n_errors: z.int(),
  metrics: z.array(z.record(z.string(), z.number())),
  pass_at_k: z.record(z.string(), z.number()),
  reward_stats: z.record(z.string(), z.record(z.string(), z.array(z.string()))),
  exception_stats: z.record(z.string(), z.array(z.string())),
})
type EvalStats = z.infer<typeof EvalStats>

export const JobStats = z.looseObject({
  n_completed_trials: z.int(),
  n_errored_trials: z.int(),
  n_running_trials: z.int(),
  n_pending_trials: z.int(),
  n_cancelled_trials: z.int(),
  n_retries: z.int(),
  n_input_tokens: z.number().nullable(),
  n_cache_tokens: z.number().nullable(),
  n_output_tokens: z.number().nullable(),
  cost_usd: z.number().nullable(),
  evals: z.record(z.string(), EvalStats),
})
export type JobStats = z.infer<typeof JobStats>

interface JobProgress {
  readonly total: number
  readonly running: number
  readonly retries: number
  readonly metrics: readonly RewardMetric[]
}

export function jobStats(results: readonly TrialResult[], { total, running, retries, metrics }: JobProgress): JobStats {
  const groups = byEval(results)
  const errored = results.filter(({ exception_info }) => exception_info !== null)
  return {
    n_completed_trials: results.length,
    n_errored_trials: errored.length,
    n_running_trials: running,
    n_pending_trials: Math.max(0, total - results.length - running),
    n_cancelled_trials: errored.filter(({ exception_info }) => exception_info?.exception_type === 'CancelledError')
      .length,
    n_retries: retries,
    n_input_tokens: totalOf(results, 'n_input_tokens'),
    n_cache_tokens: totalOf(results, 'n_cache_tokens'),
    n_output_tokens: totalOf(results, 'n_output_tokens'),
    cost_usd: totalOf(results, 'cost_usd'),
    evals: Object.fromEntries([...groups].map(([key, trials]) => [key, evalStats(trials, metrics)])),
  }
}

/** `agent__model__dataset`; without a model `agent__dataset`, without a dataset `adhoc`. */
export function evalKey({ agent_info, source }: Pick<TrialResult, 'agent_info' | 'source'>): string {
  return [agent_info.name, agent_info.model_info?.name, source ?? 'adhoc'].flatMap((part) => part || []).join('__')
}

function evalStats(trials: readonly TrialResult[], metrics: readonly RewardMetric[]): EvalStats {
  const rewardStats: EvalStats['reward_stats'] = {}
  const exceptionStats: EvalStats['exception_stats'] = {}
  const rewards = trials.map(({ verifier_result }) => verifier_result?.rewards ?? null)
  for (const { trial_name, verifier_result, exception_info } of trials) {
    for (const [key, value] of Object.entries(verifier_result?.rewards ?? {})) {
      const byValue = rewardStats[key] ?? {}
      rewardStats[key] = { ...byValue, [pythonFloat(value)]: [...(byValue[pythonFloat(value)] ?? []), trial_name] }
    }
    const type = exception_info?.exception_type
    if (type !== undefined) exceptionStats[type] = [...(exceptionStats[type] ?? []), trial_name]
  }
  return {
    n_trials: rewards.filter((each) => each !== null).length,
    n_errors: trials.filter(({ exception_info }) => exception_info !== null).length,
    metrics: (metrics.length === 0 ? (['mean'] as const) : metrics).map((metric) => aggregate(rewards, metric)),
    pass_at_k: passAtEveryK(trials),
    reward_stats: rewardStats,
    exception_stats: exceptionStats,
  }
}

/** One number under the metric's name where there is at most one key, else one per key. What is missing counts as 0. */
export function aggregate(rewards: readonly (Rewards | null)[], metric: RewardMetric): Record<string, number> {
  const keys = [...new Set(rewards.flatMap((each) => Object.keys(each ?? {})))].sort()
  const over = (key: string | undefined) =>
    combine(
      rewards.map((each) => (key === undefined ? 0 : (each?.[key] ?? 0))),
      metric,
    )
  if (keys.length <= 1) return { [metric]: over(keys[0]) }
  return Object.fromEntries(keys.map((key) => [key, over(key)]))
}

function combine(values: readonly number[], metric: RewardMetric): number {
  const sum = values.reduce((total, value) => total + value, 0)
  if (metric === 'mean') return values.length === 0 ? 0 : sum / values.length
  if (metric === 'sum') return sum
  const pick = metric === 'max' ? Math.max : Math.min
  return values.reduce((best, value) => pick(best, value))
}

// Only where every score is one key of 0 or 1: then a missing score is a failure.
function passAtEveryK(trials: readonly TrialResult[]): Record<string, number> {
  const byTask = new Map<string, { n: number; c: number }>()
  for (const { task_name, verifier_result } of trials) {
    const values = Object.values(verifier_result?.rewards ?? { none: 0 })
    const [value] = values
    if (values.length !== 1 || (value !== 0 && value !== 1)) return {}
    const counted = byTask.get(task_name) ?? { n: 0, c: 0 }
    byTask.set(task_name, { n: counted.n + 1, c: counted.c + value })
  }
  const counts = [...byTask.values()]
  const most = Math.min(...counts.map(({ n }) => n))
  const mean = (k: number) => counts.reduce((sum, { n, c }) => sum + passAtK(n, c, k), 0) / counts.length
  return Object.fromEntries(eligibleK(most).map((k) => [String(k), mean(k)]))
}

function eligibleK(most: number): number[] {
  const found = new Set<number>()
  for (let k = 2; k <= most; k *= 2) found.add(k)
  for (let k = 5; k <= most; k += 5) found.add(k)
  return [...found].sort((a, b) => a - b)
}

type Counted = 'n_input_tokens' | 'n_cache_tokens' | 'n_output_tokens' | 'cost_usd'

function totalOf(results: readonly TrialResult[], field: Counted): number | null {
  const known = results
    .flatMap(({ agent_result, step_results }) =>
      agent_result === null ? (step_results ?? []).map((step) => step.agent_result) : [agent_result],
    )
    .flatMap((each) => each?.[field] ?? [])
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

// Keys as Harbor writes them: 1.0, not 1.
function pythonFloat(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value)
}

function byEval(results: readonly TrialResult[]): Map<string, TrialResult[]> {
  const groups = new Map<string, TrialResult[]>()
  for (const each of results) {
    const key = evalKey(each)
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return groups
}
