// One arm on two benchmarks: how far its score on the one is from that on the other. Tasks are two independent samples, seeds are paired:
// the variance is that of the seeds' differences plus what the tasks of each side add, (MS_task - MS_residual) / (S T), with the degrees of
// freedom of Satterthwaite (1946). Seeds that differ by no more than single cells make them are pooled with these, as in `crossed-anova.ts`.
//
// Where one side shows no spread at all (every answer right), or none is known, a bounded score has its interval from those of the two sides
// (Newcombe 1998), which are as wide as so many tasks leave them.
//
// Class mix. With p the shares and s the scores of labels on the first (1) and second (2) benchmark, and S1 the first score,
//   S2 - S1 = [ sum p2 s1 - S1 ] + [ sum p2 (s2 - s1) ]     mix of classes + change within them
// (Kitagawa 1955; Oaxaca 1973). A label that the first benchmark lacks has the score S1 there, so all of its difference is change within.
// Both are differences of two means of what single tasks add (their influence), so their intervals are those of any difference.
import type { MetricRange } from '../contracts/index.ts'
import { crossedAnova, fQuantile, poolingOdds } from './crossed-anova.ts'
import { type Interval, meanOf, requireFraction } from './moments.ts'
import type { ArmScores, Cell, SeedId } from './pair-scores.ts'
import { withinEffect } from './paired-comparison.ts'
import { type ScoreInterval, scoreInterval, widthOf } from './score-interval.ts'
import { tMultiplier } from './student-t.ts'

export interface MeanDifference {
  /** Second less first; where scores were lost, the middle of what it may be. */
  readonly effect: number
  /** Null: nothing is known of spread. */
  readonly interval: Interval | null
  /** Which chance the interval holds. */
  readonly over: 'both' | 'tasks' | 'seeds' | null
  /** Rows that are paired. */
  readonly seeds: number
  /** What lost scores leave open, to each side. */
  readonly unknown: number
  /** Of each end of the interval; they differ where it follows from those of two bounded scores. */
  readonly errors: { readonly lower: MeanError; readonly upper: MeanError } | null
  /** What seeds and tasks add to the variance of the difference; null where the table cannot tell. */
  readonly parts: { readonly seeds: MeanError | null; readonly tasks: number | null }
}

export interface MeanError {
  readonly standardError: number
  readonly df: number
}

type Table = readonly (readonly number[])[]

/** The difference of an arm's scores on two benchmarks. Without seeds in common, rows are paired by their place. */
export function betweenBenchmarks(
  first: ArmScores,
  second: ArmScores,
  { confidence, range }: { confidence: number; range?: Readonly<MetricRange> | undefined },
): MeanDifference {
  requireFraction(confidence, 'confidence')
  const [a, b] = pairedRows(first, second)
  const unknown = meanOf(a.flat().map(slack), 0) + meanOf(b.flat().map(slack), 0)
  const found = tableDifference(a.map(middles), b.map(middles), { confidence, unknown })
  const isEven = (rows: readonly Cell[][]) => new Set(rows.flatMap(middles)).size === 1
  const [one, other] = [first, second].map((each) => scoreInterval(distinctRows(each), { confidence, range }))
  const largest = widthOf(range ?? [null, null])
  const bounded =
    one != null && other != null && (found.interval === null || isEven(a) || isEven(b))
      ? newcombe(found, meanOf(a.flatMap(middles), 0), [one, other])
      : found
  return bounded.interval === null ? bounded : { ...bounded, interval: withinEffect(bounded.interval, largest) }
}

/** From the intervals of two independent scores. */
function newcombe(
  found: MeanDifference,
  score: number,
  sides: readonly [ScoreInterval, ScoreInterval],
): MeanDifference {
  const [a, b] = sides
  const second = score + found.effect
  const { confidence } = a
  const reach = {
    lower: Math.hypot(second - b.lower, a.upper - score),
    upper: Math.hypot(b.upper - second, score - a.lower),
  }
  const interval = { lower: found.effect - reach.lower, upper: found.effect + reach.upper, confidence }
  const errorOf = (each: number) => ({ standardError: each / tMultiplier(confidence, manyDf), df: manyDf })
  const errors = { lower: errorOf(reach.lower - found.unknown), upper: errorOf(reach.upper - found.unknown) }
  return { ...found, interval, errors, over: a.over === b.over ? a.over : 'both' }
}

/** With so many degrees of freedom, t is the normal. */
const manyDf = 1e6

function distinctRows(scores: ArmScores): ArmScores {
  return { ...scores, seeds: scores.seeds.map((seed, i) => `${seed}/${i}`) }
}

export interface MixParts {
  readonly mix: MeanDifference
  readonly within: MeanDifference
  readonly labels: readonly LabelScores[]
}

export interface LabelScores {
  readonly label: string
  /** Share of the tasks, and score of the label; null: the benchmark has no such task. */
  readonly shares: readonly [number, number]
  readonly scores: readonly [number | null, number | null]
}

/** The difference in two parts, by labels of the tasks of both, in the order of their columns. */
export function mixParts(
  first: ArmScores,
  second: ArmScores,
  labels: { readonly first: readonly string[]; readonly second: readonly string[] },
  confidence: number,
): MixParts {
  const [a, b] = pairedRows(first, second).map((rows) => rows.map(middles)) as [number[][], number[][]]
  const names = [...new Set([...labels.first, ...labels.second])].sort()
  const found = names.map((label): LabelScores => {
    const of = (table: Table, own: readonly string[]) => {
      const values = table.flatMap((row) => row.filter((_, t) => own[t] === label))
      return values.length === 0 ? null : meanOf(values, 0)
    }
    const share = (own: readonly string[]) => own.filter((each) => each === label).length / own.length
    return {
      label,
      shares: [share(labels.first), share(labels.second)],
      scores: [of(a, labels.first), of(b, labels.second)],
    }
  })
  const byLabel = new Map(found.map((each) => [each.label, each]))
  const total = meanOf(a.flat(), 0)
  const scoreOf = (label: string) => byLabel.get(label)?.scores[0] ?? total
  // Tasks of labels that only the second has weigh on the whole of the first.
  const unseen = found.reduce((sum, { shares, scores }) => sum + (scores[0] === null ? shares[1] : 0), 0)
  const reweighted = a.map((row) =>
    row.map((value, t) => {
      const label = labels.first[t] ?? ''
      const [p1, p2] = byLabel.get(label)?.shares ?? [1, 0]
      return (p2 / p1) * (value - scoreOf(label)) + unseen * (value - total)
    }),
  )
  const expected = b.map((row) => row.map((_, t) => scoreOf(labels.second[t] ?? '')))
  const options = { confidence, unknown: 0 }
  return {
    mix: tableDifference(
      a.map((row, s) => row.map((value, t) => value - (reweighted[s]?.[t] ?? 0))),
      expected,
      options,
    ),
    within: tableDifference(
      reweighted,
      b.map((row, s) => row.map((value, t) => value - (expected[s]?.[t] ?? 0))),
      options,
    ),
    labels: found,
  }
}

function tableDifference(
  a: Table,
  b: Table,
  { confidence, unknown }: { confidence: number; unknown: number },
): MeanDifference {
  const nSeeds = a.length
  const sides = [a, b].map((table) => ({ ...crossedAnova(table), nTasks: table[0]?.length ?? 1 }))
  const rows = a.map((row, s) => [meanOf(b[s] ?? [], 0) - meanOf(row, 0)])
  const { mean: effect, seed } = crossedAnova(rows)
  const part = (square: { value: number; df: number } | null, nTasks: number): Part[] =>
    square === null ? [] : [{ variance: square.value / (nSeeds * nTasks), df: square.df }]
  const tasks = sides.flatMap(({ task, nTasks }) => part(task, nTasks))
  const cells = sides.flatMap(({ residual, nTasks }) => part(residual, nTasks))
  const ofSeeds = seed === null ? undefined : pooled({ variance: seed.value / nSeeds, df: seed.df }, joined(cells))
  const ofTasks = joined(tasks)
  const possible = [
    ...(ofSeeds === undefined ? [] : [ofSeeds]),
    ...(ofTasks === undefined ? [] : [ofTasks]),
    ...(ofSeeds === undefined || ofTasks === undefined ? [] : [sum([ofSeeds, ...tasks], cells)]),
  ]
  const reach = ({ variance, df }: Part) => Math.sqrt(variance) * tMultiplier(confidence, df)
  const most = possible.filter(({ variance }) => variance > rounding).toSorted((x, y) => reach(y) - reach(x))[0]
  const interval =
    most === undefined
      ? null
      : { lower: effect - unknown - reach(most), upper: effect + unknown + reach(most), confidence }
  const over = interval === null ? null : ofSeeds === undefined ? 'tasks' : ofTasks === undefined ? 'seeds' : 'both'
  const errorOf = ({ variance, df }: Part): MeanError => ({ standardError: Math.sqrt(variance), df })
  const error = most === undefined ? null : errorOf(most)
  return {
    effect,
    interval,
    over,
    seeds: nSeeds,
    unknown,
    errors: error === null ? null : { lower: error, upper: error },
    parts: {
      seeds: ofSeeds === undefined || ofSeeds.variance <= rounding ? null : errorOf(ofSeeds),
      tasks: ofTasks === undefined ? null : sum(tasks, cells).variance,
    },
  }
}

interface Part {
  readonly variance: number
  readonly df: number
}

/** A variance no larger than this is rounding. */
const rounding = 1e-24

function joined(parts: readonly Part[]): Part | undefined {
  return parts.length === 0 ? undefined : sum(parts, [])
}

function sum(parts: readonly Part[], less: readonly Part[]): Part {
  const total = (of: readonly Part[]) => of.reduce((whole, { variance }) => whole + variance, 0)
  const variance = Math.max(0, total(parts) - total(less))
  const squares = [...parts, ...less].reduce((whole, each) => whole + each.variance ** 2 / each.df, 0)
  return { variance, df: squares === 0 ? 1 : Math.max(1, variance ** 2 / squares) }
}

function pooled(seeds: Part, cells: Part | undefined): Part {
  if (cells === undefined || seeds.variance > fQuantile(poolingOdds, seeds.df, cells.df) * cells.variance) return seeds
  const df = seeds.df + cells.df
  return { variance: (seeds.df * seeds.variance + cells.df * cells.variance) / df, df }
}

/** Rows of both, seed by seed; without seeds in common, by their place. */
export function pairedRows(first: ArmScores, second: ArmScores): [Cell[][], Cell[][]] {
  const shared = first.seeds.filter((seed) => second.seeds.includes(seed))
  const rowOf = ({ seeds, cells_S_T }: ArmScores, seed: SeedId) => [...(cells_S_T[seeds.indexOf(seed)] ?? [])]
  if (shared.length > 0) return [shared.map((seed) => rowOf(first, seed)), shared.map((seed) => rowOf(second, seed))]
  const n = Math.min(first.seeds.length, second.seeds.length)
  const rows = ({ cells_S_T }: ArmScores) => cells_S_T.slice(0, n).map((row) => [...row])
  return [rows(first), rows(second)]
}

export function middles(row: readonly Cell[]): number[] {
  return row.map((cell) => (typeof cell === 'number' ? cell : cell === null ? 0 : (cell.lower + cell.upper) / 2))
}

export function slack(cell: Cell): number {
  return typeof cell === 'number' || cell === null ? 0 : (cell.upper - cell.lower) / 2
}
