// Metered evaluations on the hidden test split: champion and baseline on fresh seeds. Some seeds decide whether the gain is confirmed,
// others say how large it is. A mean that was good enough to pass a test is too good on average; a mean over seeds that the test never
// saw is not (docs/decisions/0009).
import type { Direction, PlannedTestEvaluation, ReportedGainRecord } from '../../contracts/index.ts'
import { tCdf, tInterval, tTail } from '../../stats/index.ts'
import { pairGains, type SeedResult, valuesBySeed } from './measure-gain.ts'
import { freshSeeds } from './seed-bank.ts'

interface TestEvaluationOptions {
  readonly reason: TestEvaluationReason
  readonly champion: string
  readonly keeps: number
  readonly evaluations: readonly TestEvaluationRecord[]
  /** Seeds that decide, and as many that report: `confirmSeeds` of the keep rule. */
  readonly seeds: number
  readonly sessionSeed: number
  /** Every seed that the session ran on any split. */
  readonly used: Iterable<number>
}

/** The next test evaluation: its seeds and its level. Call it once for each, and record what it answers. */
export function planTestEvaluation(options: TestEvaluationOptions): PlannedTestEvaluation {
  const { reason, champion, keeps, evaluations, seeds, sessionSeed, used } = options
  const number = evaluations.length + 1
  const level = nextLevel(evaluations, reason)
  const fresh = freshSeeds({ sessionSeed, path: ['look', number], count: 2 * seeds, used })
  return { number, reason, champion, keeps, level, decide: fresh.slice(0, seeds), report: fresh.slice(seeds) }
}

/** What a test evaluation needs next: seeds that champion and baseline both have to run on the hidden split, or its end. */
type TestEvaluationStep =
  | { readonly action: 'run'; readonly seeds: readonly number[] }
  | { readonly action: 'conclude'; readonly record: TestEvaluationRecord }

export interface TestEvaluationScores {
  readonly direction: Direction
  /** All runs of the test evaluation so far, failed ones with null. */
  readonly champion: readonly SeedResult[]
  readonly baseline: readonly SeedResult[]
  /** Name of the metric and its unit, for the words. */
  readonly metric: string
  readonly unit?: string | undefined
}

/** The test evaluation's next step, given what has been run of it. */
export function stepTestEvaluation(
  evaluation: PlannedTestEvaluation,
  scores: TestEvaluationScores,
): TestEvaluationStep {
  const open = stillOpen(evaluation.decide, scores)
  if (open.length > 0) return { action: 'run', seeds: open }
  const p = pValue(evaluation, scores)
  const confirmed = p <= evaluation.level
  const reports = confirmed || evaluation.reason === 'end'
  const openReports = reports ? stillOpen(evaluation.report, scores) : []
  if (openReports.length > 0) return { action: 'run', seeds: openReports }
  const reported = reports ? reportedGain(gainsOn(evaluation.report, scores)) : undefined
  const { number, reason, champion, keeps, level } = evaluation
  const record = { number, reason, champion, keeps, level, p, confirmed, reported }
  const words = testEvaluationWords(record, evaluation.decide.length, scores)
  return { action: 'conclude', record: { ...record, words } }
}

/** Gain, 90 % interval and chance of one more run being better, from paired gains; undefined without any. */
export function reportedGain(gains: readonly number[]): ReportedGainRecord | undefined {
  if (gains.length === 0) return undefined
  const { estimate, standardError, df, interval } = tInterval(gains, 0.9)
  if (interval === null || standardError === null || df === null) return { gain: estimate, n: gains.length }
  // The next difference has the spread of one and the error of the mean.
  const spread = standardError * Math.sqrt(gains.length + 1)
  const probability_better = spread === 0 ? (1 + Math.sign(estimate)) / 2 : tCdf(estimate / spread, df)
  const { lower, upper } = interval
  return { gain: estimate, n: gains.length, interval: { lower, upper }, probability_better }
}

// A champion that fails on a fresh seed is not confirmed; a pair that lost its baseline is left out, and two are not enough.
function pValue(evaluation: PlannedTestEvaluation, scores: TestEvaluationScores): number {
  const champion = valuesBySeed(scores.champion)
  if (evaluation.decide.some((seed) => !champion.has(seed))) return 1
  const gains = gainsOn(evaluation.decide, scores)
  if (gains.length < Math.max(3, evaluation.decide.length - 2)) return 1
  const { estimate, standardError, df } = tInterval(gains, 0.9)
  if (standardError === null || df === null) return 1
  // Without any spread all seeds are one observation: it is a gain or none, as on a task without chance.
  if (standardError === 0) return estimate > 0 ? 0 : 1
  return tTail(estimate / standardError, df)
}

function stillOpen(seeds: readonly number[], { champion, baseline }: TestEvaluationScores): readonly number[] {
  const ran = new Set(champion.map(({ seed }) => seed))
  const ranBaseline = new Set(baseline.map(({ seed }) => seed))
  return seeds.filter((seed) => !ran.has(seed) || !ranBaseline.has(seed))
}

function gainsOn(seeds: readonly number[], { direction, champion, baseline }: TestEvaluationScores): number[] {
  const own = champion.filter(({ seed }) => seeds.includes(seed))
  return pairGains(direction, own, baseline)
}

// Evaluations are counted, and share one chance of being wrong. Each spends a part of what is left of `claimLevel`; one that confirms
// gives its part back, as its claim was tested and holds (the fallback procedure for claims that come one after another: Tian and
// Ramdas 2021, "Online control of the familywise error rate"). The one at the end may spend most of what is left. Levels depend on
// earlier evaluations alone and each runs fresh seeds, so a session confirms anything falsely with probability at most `claimLevel`.

/** Chance that a session confirms anything that is no better than its baseline: the bound; most sessions stay below it. */
export const claimLevel = 0.05

/** Test evaluations that a session may take, its last one included. */
export const mostTestEvaluations = 8

/** Keeps from one test evaluation to the next, where the settings do not say otherwise. */
export const keepsBetweenTestEvaluations = 5

// A session that is resumed after its end still has something left to spend.
const shares = { milestone: 1 / 4, request: 1 / 4, end: 3 / 4 } as const

export type TestEvaluationReason = 'milestone' | 'end' | 'request'

/** What a test evaluation concluded. */
export interface TestEvaluationRecord {
  /** Counts from 1. */
  readonly number: number
  readonly reason: TestEvaluationReason
  /** Id of the attempt that was held against the baseline. */
  readonly champion: string
  /** Keeps of the session when it was planned. */
  readonly keeps: number
  /** Chance of being wrong that it spent. */
  readonly level: number
  /** One-sided p-value over the deciding seeds; 1 where the champion failed on any of them. */
  readonly p: number
  readonly confirmed: boolean
  /** Gain over the baseline on seeds that had no part in the decision. Absent: they were not run. */
  readonly reported?: ReportedGainRecord | undefined
  /** In words for people. */
  readonly words: string
}

/** Level at which the next test evaluation may confirm. */
export function nextLevel(evaluations: readonly TestEvaluationRecord[], reason: TestEvaluationReason): number {
  const spent = evaluations.reduce((sum, { confirmed, level }) => sum + (confirmed ? 0 : level), 0)
  return Math.max(0, claimLevel - spent) * shares[reason]
}

interface TestEvaluationState {
  /** Id of the incumbent, and of attempt 0. */
  readonly champion: string
  readonly baseline: string
  readonly keeps: number
  readonly evaluations: readonly TestEvaluationRecord[]
  /** The budget is spent, or a person ended the session. */
  readonly ending: boolean
  /** A person asked for a test evaluation. */
  readonly requested: boolean
  /** Keeps from one test evaluation to the next; 0: none but those that are asked for and the one at the end. Absent: 5. */
  readonly every?: number | undefined
}

/** Why a test evaluation is due now; undefined when none is. */
export function testEvaluationDue(state: TestEvaluationState): TestEvaluationReason | undefined {
  const { champion, baseline, keeps, evaluations, ending, requested, every = keepsBetweenTestEvaluations } = state
  if (champion === baseline) return undefined
  if (evaluations.some((evaluation) => evaluation.champion === champion && evaluation.confirmed)) return undefined
  if (evaluations.length >= mostTestEvaluations) return undefined
  if (ending) return 'end'
  // The last one is for the end.
  if (evaluations.length >= mostTestEvaluations - 1) return undefined
  if (requested) return 'request'
  return every > 0 && keeps - (evaluations.at(-1)?.keeps ?? 0) >= every ? 'milestone' : undefined
}

/** Test evaluations that a person may still ask for. */
export function testEvaluationsLeft(evaluations: readonly TestEvaluationRecord[]): number {
  return Math.max(0, mostTestEvaluations - 1 - evaluations.length)
}

/**
 * What the search may know of the hidden split (the ladder of Blum and Hardt 2015): a confirmed gain that is above the last released
 * one by a step, the error of the measurement. All else would teach it the hidden split, evaluation by evaluation.
 */
export function releasedGain(evaluations: readonly TestEvaluationRecord[]): number | undefined {
  let released: number | undefined
  for (const { confirmed, reported } of evaluations) {
    if (!confirmed || reported?.interval === undefined) continue
    const step = (reported.interval.upper - reported.interval.lower) / 4
    if (released === undefined || reported.gain > released + step) released = reported.gain
  }
  return released
}

/** `Confirmed: 5 new seeds, hidden test set; 5 others measure val_bpb -0.0031 ± 0.0009 against the baseline.` */
export function testEvaluationWords(
  record: Omit<TestEvaluationRecord, 'words'>,
  seeds: number,
  { direction, metric, unit }: Pick<TestEvaluationScores, 'direction' | 'metric' | 'unit'>,
): string {
  const { confirmed, reported } = record
  const verdict = confirmed
    ? `Confirmed: ${seeds} new seeds, hidden test set`
    : `Not confirmed on ${seeds} new seeds, hidden test set`
  if (reported === undefined) return `${verdict}.`
  const change = direction === 'max' ? reported.gain : 0 - reported.gain
  const half = reported.interval === undefined ? undefined : (reported.interval.upper - reported.interval.lower) / 2
  const digits = decimals(half ?? Math.abs(change))
  const sign = change > 0 ? '+' : ''
  const error = half === undefined ? '' : ` ± ${half.toFixed(digits)}`
  return `${verdict}; ${reported.n} others measure ${metric} ${sign}${change.toFixed(digits)}${error}${unit === undefined ? '' : ` ${unit}`} against the baseline.`
}

// Two digits of the error are shown, and no more.
function decimals(error: number): number {
  if (!(error > 0)) return 4
  return Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(error))))
}
