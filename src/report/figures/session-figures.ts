// Everything that a report says of a session, as numbers. Gains are improvements, positive whatever the direction.
import type { Direction } from '../../contracts/index.ts'
import { racePrior } from '../../research/index.ts'
import {
  type EffectPrior,
  expectedFalseKeeps,
  normalQuantile,
  pooledNoise,
  type ShrunkEffect,
  shrink,
} from '../../stats/index.ts'
import type { ReportedConfirmation, ReportedNoise, ResearchReportInput } from '../input/report-input.ts'
import { effectOf, gainBetween, groupBy, isKept, type PlacedAttempt, placeAttempts, sum } from './placed-attempt.ts'

export interface SessionFigures {
  readonly direction: Direction
  readonly placed: readonly PlacedAttempt[]
  readonly baseline?: PlacedAttempt | undefined
  /** What the session ends with; absent while nothing was kept. */
  readonly champion?: PlacedAttempt | undefined
  /** From the baseline to the champion, as measured in their races. */
  readonly rawGain?: number | undefined
  readonly kept: readonly KeptChange[]
  /** Shrunken gain: what is left of `rawGain` without its lucky part, never more than it. Absent: not known. */
  readonly shrunkenGain?: number | undefined
  readonly prior: EffectPrior | null
  readonly expectedFalse?: number | undefined
  readonly noise: NoiseFigures
  readonly spending: Spending
}

export function sessionFigures(input: ResearchReportInput): SessionFigures {
  const { direction } = input.task
  const all = placeAttempts(input.attempts, input.succession)
  // Leaving a kept change out again is a check of it and no new idea.
  const placed = all.filter(({ attempt }) => attempt.mode !== 'ablate')
  const noise = noiseFigures(input)
  const prior = racePrior(
    placed.flatMap(({ attempt, outcome }) => (outcome === 'baseline' ? [] : (attempt.gain ?? []))),
  )
  const kept = placed.filter(isKept).map((each) => keptChange(each, { prior, input }))
  const weighed = kept.flatMap(({ shrunk }) => shrunk ?? [])
  const baseline = placed.find(({ outcome }) => outcome === 'baseline')
  const champion = all.find(({ attempt }) => attempt.id === input.champion) ?? placed.findLast(isKept)
  const rawGain = gainBetween(baseline?.score, champion?.score, direction)
  const shrunkenGain = totalLeft(kept, rawGain, input)
  return {
    direction,
    placed,
    baseline,
    champion,
    rawGain,
    kept,
    shrunkenGain,
    expectedFalse: weighed.length === 0 ? undefined : expectedFalseKeeps(weighed),
    prior,
    noise,
    spending: spendingOf(input),
  }
}

// Every incumbent was measured against the one before it, so the shrunken gains of those that led to the champion add up. What was
// left out again counts for nothing; nor does luck that seeds which came later have corrected already.
function totalLeft(
  kept: readonly KeptChange[],
  rawGain: number | undefined,
  { champion, succession }: ResearchReportInput,
): number | undefined {
  const last = champion === undefined ? -1 : (succession?.lastIndexOf(champion) ?? -1)
  const stack = succession === undefined || last < 0 ? undefined : new Set(succession.slice(0, last + 1))
  const steps = kept.filter(
    ({ placed: { attempt, reported } }) => reported.ablation?.dropped !== true && stack?.has(attempt.id) !== false,
  )
  const shrunk = steps.flatMap((step) => step.shrunk?.effect ?? [])
  if (rawGain === undefined || shrunk.length === 0) return undefined
  return Math.min(rawGain, sum(shrunk))
}

/** Coverage of the intervals of a report. */
const CONFIDENCE = 0.9

/** One kept change with its evidence: the raw gain, the shrunken gain, its confirmation. */
export interface KeptChange {
  readonly placed: PlacedAttempt
  /** As measured against the incumbent of its time. */
  readonly raw?: number | undefined
  readonly interval?: readonly [number, number] | undefined
  readonly seeds: number
  /** Absent where fewer than three gains are known: nothing says how large gains usually are. */
  readonly shrunk?: ShrunkEffect | undefined
  /** No larger than what a seed alone changes. */
  readonly withinNoise: boolean
  readonly confirmation?: ReportedConfirmation | undefined
}

export function keptChange(
  placed: PlacedAttempt,
  { prior, input }: { prior: EffectPrior | null; input: ResearchReportInput },
): KeptChange {
  const { gain, id, scores } = placed.attempt
  const confirmation = input.confirmations?.findLast(({ attempt }) => attempt === id)
  if (gain === undefined) return { placed, seeds: scores.length, withinNoise: false, confirmation }
  const reach = (normalQuantile((1 + CONFIDENCE) / 2) * gain.sigma) / Math.sqrt(gain.n)
  return {
    placed,
    raw: gain.mean,
    seeds: gain.n,
    withinNoise: gain.mean < gain.sigma,
    interval: gain.sigma === 0 ? undefined : [gain.mean - reach, gain.mean + reach],
    shrunk: prior === null ? undefined : shrink(effectOf(gain), prior),
    confirmation,
  }
}

/** How much scores move when nothing but the seed changes, and what that leaves visible. */
interface NoiseFigures extends ReportedNoise {
  /** Gains that 2, 3 and 5 shared seeds show in four of five cases. */
  readonly visible: readonly { readonly seeds: number; readonly gain: number }[]
}

/** As the session measured it; else pooled from the baseline and from what the attempts carry. */
function noiseFigures({ noise, attempts }: ResearchReportInput): NoiseFigures {
  const own = noise ?? fromScores(attempts)
  const { sigma } = own
  return {
    ...own,
    // 2.5 is z(0.95) + z(0.8): a one-sided 5 % test with power 0.8.
    visible:
      sigma === undefined || sigma === 0
        ? []
        : [2, 3, 5].map((seeds) => ({ seeds, gain: (2.5 * sigma) / Math.sqrt(seeds) })),
  }
}

function fromScores(attempts: ResearchReportInput['attempts']): ReportedNoise {
  const scores = attempts.find(({ attempt }) => attempt.number === 0)?.attempt.scores ?? []
  const bySeed = groupBy(scores, ({ seed }) => seed)
  const first = [...bySeed.values()].flatMap(([one]) => one?.value ?? [])
  const repeats = [...bySeed.values()].map((group) => group.map(({ value }) => value))
  const { seedSd, sigma, jitterSd } = pooledNoise({ baseline: first, repeats })
  const latest = attempts.findLast(({ attempt }) => attempt.gain !== undefined)?.attempt.gain?.sigma
  return { seedSd: seedSd ?? undefined, sigma: latest ?? sigma ?? undefined, jitterSd: jitterSd ?? undefined }
}

/** What a session took, attempt by attempt. Unknown is not zero: where a part is unknown, the total says how much of it is known. */
interface Spending {
  /** Up to and with each attempt, in their order. Absent: no cost is known. */
  readonly usd?: readonly number[] | undefined
  readonly seconds?: readonly number[] | undefined
  readonly totalUsd?: number | undefined
  readonly totalSeconds?: number | undefined
  /** Attempts whose cost in dollars is not known. */
  readonly unknownUsd: number
  readonly confirmed: number
}

function spendingOf({ attempts, overhead }: ResearchReportInput): Spending {
  const usd = cumulative(attempts.map(({ costUsd }) => costUsd))
  const seconds = cumulative(attempts.map(({ wallS }) => wallS))
  return {
    usd,
    seconds,
    totalUsd: total(usd, overhead?.costUsd),
    totalSeconds: total(seconds, overhead?.wallS),
    unknownUsd: attempts.filter(({ costUsd }) => costUsd === undefined).length,
    confirmed: attempts.filter(({ attempt }) => attempt.verdict === 'confirmed').length,
  }
}

function cumulative(values: readonly (number | undefined)[]): number[] | undefined {
  if (values.every((value) => value === undefined)) return undefined
  let sum = 0
  return values.map((value) => (sum += value ?? 0))
}

function total(series: readonly number[] | undefined, more: number | undefined): number | undefined {
  const last = series?.at(-1)
  return last === undefined && more === undefined ? undefined : (last ?? 0) + (more ?? 0)
}
