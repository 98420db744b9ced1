// One look at the hidden split: champion and baseline on fresh seeds. Some seeds decide whether the gain is confirmed, others say how
// large it is. A mean that was good enough to pass a test is too good on average; a mean over seeds that the test never saw is not
// (docs/decisions/0009).

import type { Direction } from '../../contracts/index.ts'
import { tCdf, tInterval, tTail } from '../../stats/index.ts'
import { type LookReason, type LookRecord, nextLevel, type ReportedGain } from './look-ledger.ts'
import { pairGains, type SeedResult, valuesBySeed } from './pair-gains.ts'
import { freshSeeds } from './seed-bank.ts'
import { lookWords } from './verdict-words.ts'

export interface Look {
  readonly number: number
  readonly reason: LookReason
  readonly champion: string
  readonly keeps: number
  readonly level: number
  /** Seeds that decide. */
  readonly decide: readonly number[]
  /** Seeds that say how large the gain is: run when it was confirmed, and always at the end. */
  readonly report: readonly number[]
}

export interface PlanLookOptions {
  readonly reason: LookReason
  readonly champion: string
  readonly keeps: number
  readonly looks: readonly LookRecord[]
  /** Seeds that decide, and as many that report: `confirmSeeds` of the keep rule. */
  readonly seeds: number
  readonly sessionSeed: number
  /** Every seed that the session ran on any split. */
  readonly used: Iterable<number>
}

/** The next look: its seeds and its level. Call it once per look, and write down what it answers. */
export function planLook({ reason, champion, keeps, looks, seeds, sessionSeed, used }: PlanLookOptions): Look {
  const number = looks.length + 1
  const fresh = freshSeeds({ sessionSeed, path: ['look', number], count: 2 * seeds, used })
  return {
    number,
    reason,
    champion,
    keeps,
    level: nextLevel(looks, reason),
    decide: fresh.slice(0, seeds),
    report: fresh.slice(seeds),
  }
}

/** What a look needs next: seeds that champion and baseline both have to run on the hidden split, or its end. */
export type LookStep =
  | { readonly action: 'run'; readonly seeds: readonly number[] }
  | { readonly action: 'conclude'; readonly record: LookRecord }

export interface LookScores {
  readonly direction: Direction
  /** All runs of the look so far, failed ones with null. */
  readonly champion: readonly SeedResult[]
  readonly baseline: readonly SeedResult[]
  /** Name of the metric and its unit, for the words. */
  readonly metric: string
  readonly unit?: string
}

/** The look's next step, given what has been run of it. */
export function stepLook(look: Look, scores: LookScores): LookStep {
  const open = stillOpen(look.decide, scores)
  if (open.length > 0) return { action: 'run', seeds: open }
  const p = pValue(look, scores)
  const confirmed = p <= look.level
  const reports = confirmed || look.reason === 'end'
  const openReports = reports ? stillOpen(look.report, scores) : []
  if (openReports.length > 0) return { action: 'run', seeds: openReports }
  const reported = reports ? reportedGain(gainsOn(look.report, scores)) : undefined
  const { number, reason, champion, keeps, level } = look
  const record = { number, reason, champion, keeps, level, p, confirmed, ...(reported && { reported }) }
  return { action: 'conclude', record: { ...record, words: lookWords(record, look.decide.length, scores) } }
}

/** Gain, 90 % interval and chance of one more run being better, from paired gains; undefined without any. */
export function reportedGain(gains: readonly number[]): ReportedGain | undefined {
  if (gains.length === 0) return undefined
  const { estimate, standardError, df, interval } = tInterval(gains, 0.9)
  if (interval === null || standardError === null || df === null) return { gain: estimate, n: gains.length }
  // The next difference has the spread of one and the error of the mean.
  const spread = standardError * Math.sqrt(gains.length + 1)
  const probabilityBetter = spread === 0 ? (estimate > 0 ? 1 : estimate < 0 ? 0 : 0.5) : tCdf(estimate / spread, df)
  return {
    gain: estimate,
    n: gains.length,
    interval: { lower: interval.lower, upper: interval.upper },
    probabilityBetter,
  }
}

// A champion that fails on a fresh seed is not confirmed; a pair that lost its baseline is left out, and two are not enough.
function pValue(look: Look, scores: LookScores): number {
  const champion = valuesBySeed(scores.champion)
  if (look.decide.some((seed) => !champion.has(seed))) return 1
  const gains = gainsOn(look.decide, scores)
  if (gains.length < Math.max(3, look.decide.length - 2)) return 1
  const { estimate, standardError, df } = tInterval(gains, 0.9)
  if (standardError === null || df === null) return 1
  // Without any spread all seeds are one observation: it is a gain or none, as on a task without chance.
  if (standardError === 0) return estimate > 0 ? 0 : 1
  return tTail(estimate / standardError, df)
}

function stillOpen(seeds: readonly number[], { champion, baseline }: LookScores): readonly number[] {
  const ran = new Set(champion.map(({ seed }) => seed))
  const ranBaseline = new Set(baseline.map(({ seed }) => seed))
  return seeds.filter((seed) => !ran.has(seed) || !ranBaseline.has(seed))
}

function gainsOn(seeds: readonly number[], { direction, champion, baseline }: LookScores): number[] {
  return pairGains(
    direction,
    champion.filter(({ seed }) => seeds.includes(seed)),
    baseline,
  )
}
