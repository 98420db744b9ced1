// Is the treatment better than the baseline, by how much, and what stands in the way of knowing? Both arms ran the same seeds on the
// same tasks (a crossed design), so the same seed is compared with itself. Positive effects are improvements, whatever the metric's
// direction. A baseline without training (`base_model`) is scored under each seed as well: its rows differ by sampling alone.

import type { Direction, MetricRange, Random } from '../contracts/index.ts'
import { type AnytimeEvidence, anytimeEvidence, scaleFreeEvidence } from './anytime-evidence.ts'
import {
  type CrossedAnova,
  crossedAnova,
  type EffectError,
  overBoth,
  overSeeds,
  type SeedError,
  type TableError,
  type VarianceComponents,
} from './crossed-anova.ts'
import { type Interval, meanOf, requireFraction, requirePositive } from './moments.ts'
import { normalQuantile } from './normal-distribution.ts'
import { type ArmScores, fillMissing, type PairedScores, pairScores, type SeedId } from './pair-scores.ts'
import { pairsNeeded, usualPower } from './power.ts'
import { widthOf } from './score-interval.ts'
import { type SignFlipResult, signFlip } from './sign-flip.ts'
import { tCdf, tMultiplier } from './student-t.ts'

export interface PairedComparisonOptions {
  readonly treatment: ArmScores
  readonly baseline: ArmScores
  readonly direction: Direction
  /** Smallest improvement that counts. */
  readonly minEffect?: number | undefined
  /** Coverage of the intervals. */
  readonly confidence?: number | undefined
  /** Smallest step that one score can take, 1 for right or wrong. Absent: with tasks, the smallest step seen. */
  readonly resolution?: number | undefined
  /** Standard deviation of one paired difference, known from elsewhere (`pooledNoise`). */
  readonly sigma?: number | undefined
  /** What scores of the metric can be: an effect is no larger than its width. */
  readonly range?: Readonly<MetricRange> | undefined
  readonly random: Pick<Random, 'float'>
}

export interface PairedComparison {
  /** Mean improvement; where scores were lost, the middle of what it may be. */
  readonly effect: number
  /** Half the width of what the lost scores leave open. */
  readonly unknown: number
  readonly minEffect: number
  readonly confidence: number
  /**
   * Uncertainty on tasks like these, seeds and tasks both by chance: it decides. `over` names what it holds: with one seed, or seeds that
   * are all alike, the tasks alone; without scores of tasks, the seeds alone. Null: nothing is known of it.
   */
  readonly error: TableError | null
  /** Of the upper end, where it is another than that of the lower one. */
  readonly upperError?: TableError | undefined
  readonly interval: Interval | null
  /** Uncertainty on these very tasks, with the seeds alone by chance: the detail. Null: one seed, or no variation at all. */
  readonly seedError: SeedError | null
  /** The largest difference that the range of the metric allows; infinite where it has none. */
  readonly largest: number
  readonly seedInterval: Interval | null
  readonly seeds: readonly SeedId[]
  /** Null when scores are not by task. */
  readonly nTasks: number | null
  readonly unpairedSeeds: readonly SeedId[]
  readonly unpairedTasks: readonly string[]
  /** Pairs with a score that infrastructure lost, and pairs that are missing. */
  readonly bounded: number
  readonly missing: number
  /** Variances of the difference: between seeds, between tasks, and what is left in single cells. */
  readonly variance: VarianceComponents
  /** The largest share of the uncertainty on tasks like these: get more of that. */
  readonly limitedBy: 'seeds' | 'tasks' | 'residual' | null
  /** Test of "no better than minEffect" without assuming a distribution; see `smallestP` before printing it. */
  readonly signFlip: SignFlipResult
  readonly evidence: AnytimeEvidence
  /** Chance that one more seed shows an improvement; null when nothing is known of spread. */
  readonly probabilityBetter: number | null
  /** Seeds in all that would decide with power 0.8 if the effect seen is the true one; null when no number is known. */
  readonly seedsNeeded: number | null
}

/** Compares two arms over the seeds and tasks they share. */
export function comparePaired(options: PairedComparisonOptions): PairedComparison {
  const { minEffect = 0, confidence = 0.9, resolution, sigma } = options
  if (!(Math.abs(minEffect) <= 1e100)) throw new RangeError(`minEffect must be a sensible number, not ${minEffect}`)
  requireFraction(confidence, 'confidence')
  if (resolution !== undefined) requirePositive(resolution, 'resolution')
  if (sigma !== undefined) requirePositive(sigma, 'sigma')
  const largest = widthOf(options.range ?? [null, null])
  const hasTasks = options.treatment.tasks !== undefined
  const pairs = orient(pairScores(options.treatment, options.baseline), options.direction)
  const anova = crossedAnova(fillMissing(pairs.differences_S_T), pairs.missing)
  const errorInput = {
    anova,
    nSeeds: pairs.seeds.length,
    nTasks: pairs.tasks.length,
    identical: allAlike(pairs),
    // Scores that are all equal show no step: then it may be as large as the range.
    resolution: resolution ?? (hasTasks ? (pairs.step ?? finite(largest)) : null),
    rounding: pairs.rounding,
    slack_S_T: pairs.slack_S_T,
    confidence,
  }
  const seedError = overSeeds(errorInput)
  const error = hasTasks && pairs.tasks.length > 1 ? overBoth(errorInput, seedError) : seedError
  const unknown = meanOf(
    pairs.slack_S_T.map((row) => meanOf(row, 0)),
    0,
  )
  const effect = anova.mean
  const within = (found: Interval | null) => found && withinEffect(found, largest)
  const interval = within(intervalOf(effect, unknown, error, confidence))
  // Against the treatment, lost scores are taken at their worst. Seeds that all gave the same are one observation.
  const gains = anova.means_S
    .map((mean, s) => mean - meanOf(pairs.slack_S_T[s] ?? [], 0) - minEffect)
    .slice(0, seedError?.over === 'seeds' ? undefined : 1)
  return {
    effect,
    unknown,
    minEffect,
    confidence,
    error,
    interval,
    seedError,
    largest,
    seedInterval: within(intervalOf(effect, unknown, seedError, confidence)),
    seeds: pairs.seeds,
    nTasks: hasTasks ? pairs.tasks.length : null,
    unpairedSeeds: pairs.unpairedSeeds,
    unpairedTasks: pairs.unpairedTasks,
    bounded: pairs.bounded,
    missing: pairs.missing,
    variance: anova.variance,
    limitedBy: limitOf(anova, pairs),
    signFlip: signFlip({ differences: gains, alternative: 'greater', random: options.random }),
    evidence: sigma === undefined ? scaleFreeEvidence(gains) : anytimeEvidence({ differences: gains, sigma }),
    probabilityBetter: seedError?.over === 'seeds' ? chanceOfNext(effect, seedError, pairs.seeds.length) : null,
    seedsNeeded: seedsToDecide({
      gap: Math.abs(effect - minEffect) - unknown,
      seedError,
      nSeeds: pairs.seeds.length,
      taskError: (anova.variance.task ?? 0) / pairs.tasks.length,
      confidence,
      sigma,
    }),
  }
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/** The interval around what may be the mean; null without an error. */
function intervalOf(effect: number, unknown: number, error: EffectError | null, confidence: number): Interval | null {
  if (error === null) return null
  const reach = unknown + error.grain + tMultiplier(confidence, error.df) * error.standardError
  return { lower: effect - reach, upper: effect + reach, confidence }
}

function orient(pairs: PairedScores, direction: Direction): PairedScores {
  if (direction === 'max') return pairs
  // 0 - d, as -0 would print oddly.
  const flip = (value: number | null) => (value === null ? null : 0 - value)
  return { ...pairs, differences_S_T: pairs.differences_S_T.map((row) => row.map(flip)) }
}

/** Lost scores may make seeds alike. */
function allAlike({ differences_S_T, slack_S_T, rounding }: PairedScores): boolean {
  const [first = [], ...others] = differences_S_T
  const alike = (a: number | null, b: number | null, slack: number) =>
    a === b || Math.abs((a ?? Number.NaN) - (b ?? Number.NaN)) <= rounding + slack
  return others.every((row, s) =>
    row.every((value, t) => alike(value, first[t] ?? null, (slack_S_T[s + 1]?.[t] ?? 0) + (slack_S_T[0]?.[t] ?? 0))),
  )
}

// Shares of Var(mean) = var_seed / S + var_task / T + var_residual / (S T).
function limitOf({ variance }: CrossedAnova, { seeds, tasks }: PairedScores): PairedComparison['limitedBy'] {
  const shares = [
    { name: 'seeds' as const, share: (variance.seed ?? 0) / seeds.length },
    { name: 'tasks' as const, share: (variance.task ?? 0) / tasks.length },
    { name: 'residual' as const, share: (variance.residual ?? 0) / (seeds.length * tasks.length) },
  ]
  const most = shares.reduce((best, one) => (one.share > best.share ? one : best))
  return most.share > 0 ? most.name : null
}

// Predictive t: the next difference has the spread of one and the error of the mean.
function chanceOfNext(effect: number, { standardError, df }: EffectError, nSeeds: number): number {
  return tCdf(effect / (standardError * Math.sqrt(nSeeds + 1)), df)
}

export interface SeedsToDecide {
  readonly gap: number
  readonly seedError: Pick<SeedError, 'standardError' | 'over'> | null
  readonly nSeeds: number
  /** Variance of the mean that more seeds leave: the tasks'. */
  readonly taskError: number
  readonly confidence: number
  readonly sigma: number | undefined
}

/** Null: more seeds would not decide it. */
export function seedsToDecide({ gap, seedError, nSeeds, taskError, confidence, sigma }: SeedsToDecide): number | null {
  if (seedError?.over === 'tasks') return null // more seeds of the same would say the same
  const sd = sigma ?? (seedError === null ? null : seedError.standardError * Math.sqrt(nSeeds))
  if (sd === null) return null
  // gap^2 = z^2 (sd^2 / n + taskError) at the usual power: what the tasks take of the gap, seeds cannot give back.
  const z = normalQuantile((1 + confidence) / 2) + normalQuantile(usualPower)
  const left = gap ** 2 - z ** 2 * taskError
  return left <= 0 && taskError > 0
    ? null
    : pairsNeeded({ gap: Math.sign(gap) * Math.sqrt(Math.abs(left)), sd, confidence })
}

/** An interval of a difference that is never larger than `largest`. */
export function withinEffect(interval: Interval, largest: number): Interval {
  return { ...interval, lower: Math.max(-largest, interval.lower), upper: Math.min(largest, interval.upper) }
}
