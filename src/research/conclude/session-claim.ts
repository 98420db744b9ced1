// What a session claims at its end, as its last test evaluation of the incumbent decided it: the winner against the baseline, on fresh seeds
// and the hidden split. Nothing is claimed of a baseline that stands, or where there was no such evaluation.
import type { ResearchState, ResolvedClaim } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'

export interface SessionClaim {
  readonly verdict: 'supported' | 'refuted' | 'inconclusive'
  readonly treatment: string
  readonly baseline: string
  readonly metric: string
  /** Positive is better. Null: a side has no score. */
  readonly effect: number | null
  readonly interval: readonly [number, number] | null
  readonly confidence: number
  /** Of the test evaluation. */
  readonly seeds: readonly number[]
  /** Tasks that the interval is over as well; `fresh`: each seed has new ones; null: over seeds alone. */
  readonly items: number | 'fresh' | null
  /** Means on the hidden split over those seeds. */
  readonly scores: { readonly treatment: number | null; readonly baseline: number | null }
  readonly reason: string
}

/** Undefined: nothing is claimed. */
export function sessionClaim(state: ResearchState): SessionClaim | undefined {
  const { settings, incumbent, baseline, confirmations } = state
  const found = confirmations.findLast(({ attempt }) => attempt === incumbent)
  if (settings === undefined || baseline === undefined || found === undefined || incumbent === baseline)
    return undefined
  const seeds = found.seeds ?? confirmSeeds(state, found.attempt)
  const { reported } = found
  const interval =
    reported?.interval === undefined ? null : ([reported.interval.lower, reported.interval.upper] as const)
  return {
    verdict: found.confirmed ? 'supported' : interval !== null && interval[1] < 0 ? 'refuted' : 'inconclusive',
    treatment: found.attempt,
    baseline,
    metric: settings.metric,
    effect: reported?.gain ?? null,
    interval,
    confidence: reported?.confidence ?? 1 - 2 * found.level,
    seeds,
    items: reported?.items ?? null,
    scores: { treatment: hiddenMean(state, found.attempt, seeds), baseline: hiddenMean(state, baseline, seeds) },
    reason: found.reason,
  }
}

// Sessions that were begun before evaluations named their seeds.
function confirmSeeds({ attempts }: ResearchState, id: string): number[] {
  const runs = attempts.find((attempt) => attempt.id === id)?.runs ?? []
  return [...new Set(runs.flatMap(({ purpose, seed }) => (purpose === 'confirm' ? [seed] : [])))]
}

function hiddenMean({ attempts }: ResearchState, id: string, seeds: readonly number[]): number | null {
  const hidden = attempts.find((attempt) => attempt.id === id)?.hidden ?? []
  const values = hidden.flatMap(({ seed, value }) => (seeds.includes(seed) ? [value] : []))
  return values.length === 0 ? null : meanOf(values)
}

/** As the record computes claims: between two arms, on the benchmark that is the hidden split. */
export function resolvedClaim(
  { treatment, baseline, metric, effect, interval, confidence, seeds, verdict, reason }: SessionClaim,
  { benchmark, direction }: Pick<ResolvedClaim, 'benchmark' | 'direction'>,
): ResolvedClaim | undefined {
  if (effect === null || seeds.length === 0) return undefined
  const ends = interval === null ? null : ([interval[0], interval[1]] as [number, number])
  const decided = { seeds: [...seeds], effect, interval: ends, verdict, reason }
  const pairs = [{ treatment, baseline }]
  return { benchmark, metric, direction, pairs, min_effect: 0, confidence, decided }
}
