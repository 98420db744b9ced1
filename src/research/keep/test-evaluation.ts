// Metered evaluations on the hidden test split: champion and baseline on fresh seeds. One test decides, over all those seeds and, where
// outcomes are known by item, over the items of the split; the interval that is printed is the one of that test, so that it leaves zero
// out exactly where the gain is better. Only one that counts the items is called confirmed (docs/decisions/0014).
import type { Direction, PlannedTestEvaluation, ReportedGainRecord } from '../../contracts/index.ts'
import { crossedGain, gainInterval, gainTail, moments, shrunkenByTest, tCdf } from '../../stats/index.ts'
import { hasFreshItems, itemDifferences, pairGains, type SeedResult, valuesBySeed } from './measure-gain.ts'
import { freshSeeds } from './seed-bank.ts'

interface TestEvaluationOptions {
  readonly reason: TestEvaluationReason
  readonly champion: string
  readonly keeps: number
  readonly evaluations: readonly TestEvaluationRecord[]
  /** Seeds that are run first, and as many after them: `confirmSeeds` of the keep rule. */
  readonly seeds: number
  readonly sessionSeed: number
  /** Every seed that the session ran on any split. */
  readonly used: Iterable<number>
  /** The other seeds are spared where the first ones suffice: runs are dear. */
  readonly early?: boolean | undefined
}

/** The next test evaluation: its seeds and its level. Call it once for each, and record what it answers. */
export function planTestEvaluation(options: TestEvaluationOptions): PlannedTestEvaluation {
  const { reason, champion, keeps, evaluations, seeds, sessionSeed, used, early } = options
  const number = evaluations.length + 1
  const level = nextLevel(evaluations, reason)
  const fresh = freshSeeds({ sessionSeed, path: ['look', number], count: 2 * seeds, used })
  return { number, reason, champion, keeps, level, decide: fresh.slice(0, seeds), report: fresh.slice(seeds), early }
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
  /** No cap has room for the seeds after the first ones. */
  readonly noMore?: boolean | undefined
}

/** Where the first half of the seeds is no likelier to be a gain than this, a test evaluation before the end is given up. */
const hopeless = 0.25

/** The test evaluation's next step, given what has been run of it. */
export function stepTestEvaluation(
  evaluation: PlannedTestEvaluation,
  scores: TestEvaluationScores,
): TestEvaluationStep {
  const open = stillOpen(evaluation.decide, scores)
  if (open.length > 0) return { action: 'run', seeds: open }
  const { number, reason, champion, keeps, level, early = false } = evaluation
  // Two decisions that may confirm share the level (Bonferroni).
  const each = early ? level / 2 : level
  const first = compareOn(evaluation.decide, scores, each)
  const isShown = early && (scores.noMore === true || (first.reported?.interval?.lower ?? 0) > 0)
  // Giving up early confirms nothing, so it costs no certainty.
  const isOver = isShown || (reason !== 'end' && !(first.p <= hopeless))
  const openLater = isOver ? [] : stillOpen(evaluation.report, scores)
  if (openLater.length > 0) return { action: 'run', seeds: openLater }
  const seeds = isOver ? evaluation.decide : [...evaluation.decide, ...evaluation.report]
  const { p, reported, why } = isShown
    ? first
    : isOver
      ? { ...first, reported: undefined }
      : compareOn(seeds, scores, each)
  const better = (reported?.interval?.lower ?? 0) > 0
  const confirmed = better && reported?.items !== undefined
  const record = { number, reason, champion, keeps, level, seeds, p, better, confirmed, reported }
  return {
    action: 'conclude',
    record: { ...record, words: testEvaluationWords(record, seeds.length, { ...scores, why }) },
  }
}

interface Comparison {
  /** One-sided; 1 where nothing can be decided, and then there is no interval. */
  readonly p: number
  readonly reported: ReportedGainRecord | undefined
  /** Why nothing can be decided. */
  readonly why?: string | undefined
}

// A champion that fails on a fresh seed is not confirmed; a pair that lost its baseline is left out, and two are not enough.
function compareOn(seeds: readonly number[], scores: TestEvaluationScores, level: number): Comparison {
  const own = scores.champion.filter(({ seed }) => seeds.includes(seed))
  const gains = pairGains(scores.direction, own, scores.baseline)
  const reported = reportedGain(gains)
  const lost = seeds.length - valuesBySeed(own).size
  if (lost > 0) return { p: 1, reported, why: `it failed on ${lost} of them` }
  if (gains.length < Math.max(3, seeds.length - 2))
    return { p: 1, reported, why: 'the baseline failed on too many of them' }
  const byItem = itemDifferences(scores.direction, own, scores.baseline)
  const compared = crossedGain(byItem ?? gains.map((gain) => [gain]))
  const interval = gainInterval(compared, level)
  if (interval === null || reported === undefined) return { p: 1, reported, why: noSpread(gains, byItem) }
  const items = byItem?.[0]?.length ?? (hasFreshItems(own, scores.baseline) ? ('fresh' as const) : undefined)
  const shrunken = interval.lower > 0 ? shrunkenByTest(compared, level) : undefined
  return { p: gainTail(compared), reported: { ...reported, interval, confidence: 1 - 2 * level, items, shrunken } }
}

function noSpread(gains: readonly number[], byItem: unknown): string {
  if (gains.every((gain) => gain === 0)) return 'it scores what the baseline scores'
  return byItem === undefined
    ? 'its seeds do not differ, so they are one observation, and the scorer gives no `items` to count instead'
    : 'all items differ alike, so nothing says how far that reaches'
}

/** Mean gain and chance of one more run being better, from paired gains; undefined without any. */
export function reportedGain(gains: readonly number[]): ReportedGainRecord | undefined {
  if (gains.length === 0) return undefined
  const { mean: gain, n, variance } = moments(gains)
  if (variance === null) return { gain, n }
  // The next difference has the spread of one and the error of the mean.
  const spread = Math.sqrt(variance * (1 + 1 / n))
  const probability_better = spread === 0 ? (1 + Math.sign(gain)) / 2 : tCdf(gain / spread, n - 1)
  return { gain, n, probability_better }
}

function stillOpen(seeds: readonly number[], { champion, baseline }: TestEvaluationScores): readonly number[] {
  const ran = new Set(champion.map(({ seed }) => seed))
  const ranBaseline = new Set(baseline.map(({ seed }) => seed))
  return seeds.filter((seed) => !ran.has(seed) || !ranBaseline.has(seed))
}

// Evaluations are counted, and share one chance of being wrong. Each spends a part of what is left of `claimLevel`; one that confirms
// gives its part back, as its claim was tested and holds (the fallback procedure for claims that come one after another: Tian and
// Ramdas 2021, "Online control of the familywise error rate"). The one at the end may spend most of what is left. Levels depend on
// earlier evaluations alone, so a session confirms anything falsely with probability at most `claimLevel`.

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
  /** On which it was decided. */
  readonly seeds?: number[] | undefined
  /** One-sided p-value of what was run; 1 where the champion failed on a seed, or nothing says how far the gain may be chance. */
  readonly p: number
  /** The interval lies above zero. */
  readonly better: boolean
  /** Better, and the interval counts the items as well. */
  readonly confirmed: boolean
  /** Gain over the baseline, with the interval that decided. Absent: it was given up after the first seeds. */
  readonly reported?: ReportedGainRecord | undefined
  /** In words for people. */
  readonly words: string
}

/** Level at which the next test evaluation may confirm. */
export function nextLevel(evaluations: readonly TestEvaluationRecord[], reason: TestEvaluationReason): number {
  const spent = evaluations.reduce((sum, { better, level }) => sum + (better ? 0 : level), 0)
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
  if (evaluations.some((evaluation) => evaluation.champion === champion && evaluation.better)) return undefined
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
 * What the search may know of the hidden split (the ladder of Blum and Hardt 2015): a gain that passed its test and is above the last released
 * one by a step, the error of the measurement. All else would teach it the hidden split, evaluation by evaluation.
 */
export function releasedGain(evaluations: readonly TestEvaluationRecord[]): number | undefined {
  let released: number | undefined
  for (const { better, reported } of evaluations) {
    if (!better || reported?.interval === undefined) continue
    const step = (reported.interval.upper - reported.interval.lower) / 4
    if (released === undefined || reported.gain > released + step) released = reported.gain
  }
  return released
}

/** What a test evaluation says of its champion, in the words of text, JSON and report. */
export function claimOf({ confirmed, better = confirmed }: { confirmed: boolean; better?: boolean | undefined }) {
  return confirmed ? 'confirmed' : better ? 'better on these items' : 'not confirmed'
}

/** `Confirmed on 10 new seeds, hidden test set of 118 items: val_bpb -0.0031 ± 0.0009 against the baseline (93 % interval).` */
export function testEvaluationWords(
  record: Pick<TestEvaluationRecord, 'confirmed' | 'better' | 'reported'>,
  seeds: number,
  {
    direction,
    metric,
    unit,
    why,
  }: Pick<TestEvaluationScores, 'direction' | 'metric' | 'unit'> & {
    readonly why?: string | undefined
  },
): string {
  const { reported } = record
  const { items, interval, shrunken, confidence = 0.9 } = reported ?? {}
  const size = items === 'fresh' ? ', new items each' : ''
  const set = `hidden test set${typeof items === 'number' ? ` of ${items} items` : ''}`
  const claim = claimOf(record)
  const verdict = `${claim.charAt(0).toUpperCase()}${claim.slice(1)} on ${seeds} new seeds${size}, ${set}`
  const because = why === undefined ? '' : ` (${why})`
  if (reported === undefined) return `${verdict}${because}.`
  const half = interval === undefined ? undefined : (interval.upper - interval.lower) / 2
  const digits = half === undefined ? decimals(Math.abs(reported.gain)) : distinctDigits(reported.gain, half)
  const change = (gain: number) => changeText(direction === 'max' ? gain : 0 - gain, digits)
  const error = half === undefined ? '' : ` ± ${half.toFixed(digits)}`
  const measured = `${metric} ${change(reported.gain)}${error}${unit === undefined ? '' : ` ${unit}`} against the baseline`
  if (interval === undefined) return `${verdict}${because}: ${measured}.`
  const over = `${Math.round(100 * confidence)} % interval${items === undefined ? ` over seeds alone; ${uncovered}` : ''}`
  const expected = shrunken === undefined ? '' : `; ${change(shrunken)} when shrunken for having passed`
  return `${verdict}: ${measured} (${over})${expected}.`
}

/** What a claim of scores without items does not cover. */
const uncovered = 'the scorer gives no outcomes by item, so what other items would show is not covered'

function changeText(change: number, digits: number): string {
  return `${change > 0 ? '+' : ''}${change.toFixed(digits)}`
}

// As many as show on which side of zero the interval ends.
function distinctDigits(gain: number, half: number): number {
  let digits = decimals(half)
  while (digits < 12 && gain !== half && Math.abs(gain).toFixed(digits) === half.toFixed(digits)) digits += 1
  return digits
}

// Two digits of the error are shown, and no more.
function decimals(error: number): number {
  if (!(error > 0)) return 4
  return Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(error))))
}
