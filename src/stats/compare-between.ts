// The scores of an arm on other tasks, as a comparison that claims are judged by: "does it hold on the newer ones?". Tasks are two
// samples that have nothing to do with each other, seeds are paired; error and interval are those of `between-benchmarks.ts`. Positive
// effects are improvements, whatever the metric's direction.
import type { Direction, MetricRange, Random } from '../contracts/index.ts'
import { scaleFreeEvidence } from './anytime-evidence.ts'
import { betweenBenchmarks, type MeanError, middles, pairedRows, slack } from './between-benchmarks.ts'
import { crossedAnova, type TableError } from './crossed-anova.ts'
import { meanOf } from './moments.ts'
import type { ArmScores } from './pair-scores.ts'
import { type PairedComparison, seedsToDecide, withinEffect } from './paired-comparison.ts'
import { widthOf } from './score-interval.ts'
import { signFlip } from './sign-flip.ts'
import { tCdf, tMultiplier } from './student-t.ts'

interface BetweenOptions {
  readonly treatment: ArmScores
  readonly baseline: ArmScores
  readonly direction: Direction
  readonly minEffect: number
  readonly confidence: number
  readonly range?: Readonly<MetricRange> | undefined
  readonly random: Pick<Random, 'float'>
}

/** Compares scores on the tasks of one benchmark with scores on those of another. */
export function compareBetween(options: BetweenOptions): PairedComparison {
  const { treatment, baseline, direction, minEffect, confidence, range, random } = options
  const found = betweenBenchmarks(baseline, treatment, { confidence, range })
  const isMin = direction === 'min'
  const sign = isMin ? -1 : 1
  const effect = isMin ? 0 - found.effect : found.effect
  const { unknown, interval } = found
  const [before, after] = pairedRows(baseline, treatment)
  const gains = after.map((row, s) => sign * (meanOf(middles(row), 0) - meanOf(middles(before[s] ?? []), 0)))
  const slacks = after.map((row, s) => meanOf(row.map(slack), 0) + meanOf((before[s] ?? []).map(slack), 0))
  const worst = gains.map((gain, s) => gain - (slacks[s] ?? 0) - minEffect)
  const sides = [before, after].map((rows) => ({ ...crossedAnova(rows.map(middles)), nTasks: rows[0]?.length ?? 1 }))
  const total = (of: (side: (typeof sides)[number]) => number | null) =>
    sides.every((side) => of(side) === null) ? null : sides.reduce((sum, side) => sum + (of(side) ?? 0), 0)
  const largest = widthOf(range ?? [null, null])
  const asError = ({ standardError, df }: MeanError): TableError => ({
    standardError,
    df,
    grain: 0,
    over: found.over ?? 'both',
  })
  const ends = found.errors && { lower: asError(found.errors.lower), upper: asError(found.errors.upper) }
  const error = ends && (isMin ? ends.upper : ends.lower)
  const { seeds, tasks } = found.parts
  const seedError = seeds && { ...asError(seeds), over: 'seeds' as const, rests: 'spread' as const }
  const reach = seeds === null ? null : unknown + tMultiplier(confidence, seeds.df) * seeds.standardError
  const hasTasks = treatment.tasks !== undefined && baseline.tasks !== undefined
  const shared = treatment.seeds.filter((seed) => baseline.seeds.includes(seed))
  return {
    effect,
    unknown,
    minEffect,
    confidence,
    error,
    upperError: (isMin ? ends?.lower : ends?.upper) ?? undefined,
    interval: interval && (isMin ? { ...interval, lower: 0 - interval.upper, upper: 0 - interval.lower } : interval),
    seedError,
    largest,
    seedInterval:
      reach === null ? null : withinEffect({ lower: effect - reach, upper: effect + reach, confidence }, largest),
    seeds: shared,
    nTasks: hasTasks ? Math.min(...sides.map(({ nTasks }) => nTasks)) : null,
    unpairedSeeds: [...treatment.seeds, ...baseline.seeds].filter((seed) => !shared.includes(seed)),
    unpairedTasks: [],
    bounded: slacks.filter((each) => each > 0).length,
    missing: 0,
    variance: {
      seed: seeds === null ? null : seeds.standardError ** 2 * gains.length,
      task: total(({ variance }) => variance.task),
      residual: total(({ variance }) => variance.residual),
    },
    limitedBy: limitOf(seeds, tasks),
    signFlip: signFlip({ differences: worst, alternative: 'greater', random }),
    evidence: scaleFreeEvidence(worst),
    probabilityBetter:
      seeds === null ? null : tCdf(effect / (seeds.standardError * Math.sqrt(gains.length + 1)), seeds.df),
    seedsNeeded: seedsToDecide({
      gap: Math.abs(effect - minEffect) - unknown,
      seedError,
      nSeeds: gains.length,
      taskError: tasks ?? 0,
      confidence,
      sigma: undefined,
    }),
  }
}

function limitOf(seeds: MeanError | null, tasks: number | null): PairedComparison['limitedBy'] {
  const [ofSeeds, ofTasks] = [seeds === null ? 0 : seeds.standardError ** 2, tasks ?? 0]
  if (ofSeeds === 0 && ofTasks === 0) return null
  return ofSeeds > ofTasks ? 'seeds' : 'tasks'
}
