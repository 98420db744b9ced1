// What a session says of its keeps and claims at the end: shrunken gains, how many keeps are expected to help
// nothing, and p-values that count every test evaluation.
import type { Attempt } from '../../contracts/index.ts'
import {
  type EffectPrior,
  expectedFalseKeeps,
  holm,
  ideaMixture,
  type MeasuredEffect,
  shrink,
  weighEffect,
} from '../../stats/index.ts'
import type { TestEvaluationRecord } from './test-evaluation.ts'

export interface KeptGain {
  /** Id of the attempt. */
  readonly id: string
  /** As measured. Positive is better. */
  readonly raw: number
  readonly n: number
  /** Raw drawn towards what the ideas of this session do; absent while fewer than three were measured. */
  readonly shrunk?: number | undefined
  readonly standardError?: number | undefined
  /** Chance that it helps nothing. */
  readonly probabilityNotBetter?: number | undefined
}

export interface ShrunkenGains {
  readonly kept: readonly KeptGain[]
  /** Keeps that are expected to help nothing; absent while too little was tried to say. */
  readonly expectedFalseKeeps?: number | undefined
  /** Every test evaluation with its p-value, and that adjusted for all of them by Holm's step-down. */
  readonly claims: readonly (Pick<TestEvaluationRecord, 'number' | 'champion' | 'confirmed' | 'p'> & {
    readonly adjustedP: number
  })[]
}

/** An attempt, as far as it matters here. */
export type DecidedAttempt = Pick<Attempt, 'id' | 'number' | 'gain' | 'verdict'>

/** Kept gains, shrunken towards what ideas of this session do, and claims. */
export function shrunkenGains(
  attempts: readonly DecidedAttempt[],
  evaluations: readonly TestEvaluationRecord[],
): ShrunkenGains {
  const measured = attempts.flatMap((attempt) => {
    const gain = racedGain(attempt)
    return gain === undefined ? [] : [{ attempt, gain, effect: effectOfRace(gain) }]
  })
  const prior = racePrior(measured.map(({ gain }) => gain))
  const kept = measured
    .filter(({ attempt: { verdict } }) => verdict === 'provisional' || verdict === 'confirmed')
    .map(({ attempt, effect }) => ({ attempt, effect, posterior: prior === null ? null : shrink(effect, prior) }))
  const posteriors = kept.flatMap(({ posterior }) => (posterior === null ? [] : [posterior]))
  const adjusted = holm(evaluations.map(({ p }) => p))
  return {
    kept: kept.map(({ attempt, effect, posterior }) => ({
      id: attempt.id,
      raw: effect.effect,
      n: attempt.gain?.n ?? 0,
      shrunk: posterior?.effect,
      standardError: posterior?.standardError,
      probabilityNotBetter: posterior?.probabilityNotBetter,
    })),
    expectedFalseKeeps: prior === null ? undefined : expectedFalseKeeps(posteriors),
    claims: evaluations.map(({ number, champion, confirmed, p }, i) => {
      return { number, champion, confirmed, p, adjustedP: adjusted[i] ?? 1 }
    }),
  }
}

// The baseline is no idea, and a gain that is no number says nothing.
function racedGain({ gain, number }: DecidedAttempt): RacedGain | undefined {
  return number === 0 || gain === undefined || !Number.isFinite(gain.mean) ? undefined : gain
}

// What the ideas of a session do on average, and how much they differ, from races that stopped when they had seen enough. The mean of a
// stopped race is off: bad luck stops it early and is never evened out. Sums are not: over races, sum of gains less n times the true gain
// is zero on average, and its square n times the noise, whenever a race stops by what it saw (Wald 1944). So sums are what mean and
// variance rest on. Single gains are weighed by a mixture of ideas that help, do nothing and hurt.
/** A measured gain: mean over n seeds of noise sigma each. */
interface RacedGain {
  readonly mean: number
  readonly n: number
  readonly sigma: number
}

/** Spread of true effects among all that were raced, kept or not; null below three, where mean and variance say nothing. */
export function racePrior(races: readonly RacedGain[]): EffectPrior | null {
  if (races.length < 3) return null
  const sum = (value: (race: RacedGain) => number) => races.reduce((total, race) => total + value(race), 0)
  const seeds = sum(({ n }) => n)
  const mean = sum(({ mean: gain, n }) => gain * n) / seeds
  const noise = sum(({ n, sigma }) => n * sigma ** 2)
  const squares = sum(({ mean: gain, n }) => (n * (gain - mean)) ** 2)
  const weights = sum(({ n }) => n ** 2)
  const variance = Math.max(0, (squares - noise) / weights)
  const unit = unitOf(races)
  return {
    mean,
    variance,
    meanVariance: (noise / seeds + (variance * weights) / seeds) / seeds,
    // Without any noise nothing is luck.
    ...(unit > 0 && { mixture: ideaMixture(races.map(effectOfRace), unit) }),
  }
}

/** Chance that a gain helps, given all that were raced, however few. */
export function chanceToHelp(gain: RacedGain, races: readonly RacedGain[]): number {
  const all = [...races, gain]
  const unit = unitOf(all)
  if (!(unit > 0)) return Number(gain.mean > 0)
  const mixture = ideaMixture(all.map(effectOfRace), unit)
  return 1 - weighEffect(effectOfRace(gain), mixture).probabilityNotBetter
}

function unitOf(races: readonly RacedGain[]): number {
  return races.reduce((sum, { sigma }) => sum + sigma, 0) / races.length
}

/** The same gain as an effect with its error. */
function effectOfRace({ mean, n, sigma }: RacedGain): MeasuredEffect {
  return { effect: mean, noise: sigma ** 2 / n }
}
