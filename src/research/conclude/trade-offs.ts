// What a session measured by several metrics at once: quality beside tokens, latency or cost. A candidate is on the front where no other is at
// least as good by all of them and better by one (Pareto).
import type { Direction, ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'

export interface TradedMetric {
  readonly metric: string
  readonly direction: Direction
  /** What it is there for: the objective, what the choice goes by, or a guard with its share. */
  readonly role: 'objective' | 'chosen by' | 'guarded'
  readonly tolerance?: number | undefined
}

export interface TradedCandidate {
  readonly attempt: string
  readonly title: string
  /** Means over its seeds, in the order of the metrics; null: it was not measured. */
  readonly values: readonly (number | null)[]
  readonly n: number
  readonly isOnFront: boolean
  readonly isBest: boolean
}

export interface TradeOffs {
  readonly metrics: readonly TradedMetric[]
  readonly candidates: readonly TradedCandidate[]
}

/** Undefined: the session has one metric alone, or measured nothing yet. */
export function tradeOffs(state: ResearchState): TradeOffs | undefined {
  const metrics = tradedMetrics(state)
  if (metrics.length < 2) return undefined
  const measured = state.attempts.flatMap((attempt) => {
    if (attempt.scores.length === 0 || attempt.verdict === 'failed' || attempt.vetoed !== undefined) return []
    return [
      {
        attempt,
        values: metrics.map(({ role, metric }) => metricMean(attempt, role === 'objective' ? undefined : metric)),
      },
    ]
  })
  if (measured.length === 0) return undefined
  const candidates = measured.map(({ attempt: { id, title, scores }, values }): TradedCandidate => {
    const isOnFront =
      values.every((value) => value !== null) && !measured.some((other) => dominates(other.values, values, metrics))
    return { attempt: id, title, values, n: scores.length, isOnFront, isBest: id === state.incumbent }
  })
  return { metrics, candidates }
}

function tradedMetrics({ settings }: ResearchState): TradedMetric[] {
  if (settings === undefined) return []
  const { metric, direction, choice, secondary } = settings
  const guards = secondary.filter((each) => each.metric !== choice?.cheapest)
  return [
    { metric, direction, role: 'objective' },
    ...(choice === undefined
      ? []
      : [{ metric: choice.cheapest, direction: choice.direction, role: 'chosen by' as const }]),
    ...guards.map((guard) => ({ ...guard, role: 'guarded' as const })),
  ]
}

/** Mean of a metric over the seeds of an attempt; without a name that of its score. Null where a seed lacks it. */
export function metricMean({ scores }: Pick<ResearchAttempt, 'scores'>, metric?: string): number | null {
  const values = scores.flatMap(({ value, secondary }) => (metric === undefined ? value : (secondary[metric] ?? [])))
  return values.length === 0 || values.length < scores.length ? null : meanOf(values)
}

function dominates(
  a: readonly (number | null)[],
  b: readonly (number | null)[],
  metrics: readonly TradedMetric[],
): boolean {
  const gains = metrics.map(({ direction }, i) => {
    const [own, other] = [a[i] ?? null, b[i] ?? null]
    if (own === null || other === null) return Number.NaN
    return direction === 'max' ? own - other : other - own
  })
  return gains.every((gain) => gain >= 0) && gains.some((gain) => gain > 0)
}
