// Puts the scores of two arms side by side: same seed, same task. What cannot be paired is named, never dropped in silence, and a
// score that infrastructure lost stays in the table as its bounds.

import { at } from './at.ts'

/**
 * What is known of one score: the score; its bounds when infrastructure lost all or part of it; null when this seed never ran this
 * task. A task that the model failed is a score like any other.
 */
export type Cell = number | { readonly lower: number; readonly upper: number } | null

export type SeedId = number | string

/** Scores of one arm. */
export interface ArmScores {
  readonly seeds: readonly SeedId[]
  /** Absent: a seed has one score, and nothing is known of tasks. */
  readonly tasks?: readonly string[]
  /** One row for each seed, one column for each task. */
  readonly cells_S_T: readonly (readonly Cell[])[]
}

export interface PairedScores {
  readonly seeds: readonly SeedId[]
  readonly tasks: readonly string[]
  /** Treatment minus baseline; of bounded cells the middle; null where either is missing. */
  readonly differences_S_T: readonly (readonly (number | null)[])[]
  /** Half the width of what each difference may be; 0 for known scores. */
  readonly slack_S_T: readonly (readonly number[])[]
  readonly unpairedSeeds: readonly SeedId[]
  readonly unpairedTasks: readonly string[]
  /** Pairs with a bounded score, and pairs that are missing. */
  readonly bounded: number
  readonly missing: number
  /** Smallest step between two scores of the table; null when all are equal. */
  readonly step: number | null
}

/** Pairs two arms over the seeds and tasks that both have. */
export function pairScores(treatment: ArmScores, baseline: ArmScores): PairedScores {
  if ((treatment.tasks === undefined) !== (baseline.tasks === undefined)) {
    throw new RangeError('either both arms name their tasks or neither does')
  }
  const a = readArm(treatment, 'treatment')
  const b = readArm(baseline, 'baseline')
  const seeds = treatment.seeds.filter((seed) => b.rows.has(seed))
  const tasks = a.tasks.filter((task) => b.columns.has(task))
  const pairs = seeds.map((seed) => tasks.map((task) => pairOf(a.cell(seed, task), b.cell(seed, task))))
  const { rows, columns } = largestBlock(pairs)
  if (rows.length === 0) throw new RangeError('the two arms share no seed and task')
  const keptSeeds = rows.map((s) => at(seeds, s))
  const keptTasks = columns.map((t) => at(tasks, t))
  const block = rows.map((s) => columns.map((t) => at(at(pairs, s), t)))
  const cells = block.flat()
  return {
    seeds: keptSeeds,
    tasks: keptTasks,
    differences_S_T: block.map((row) => row.map((pair) => pair.difference)),
    slack_S_T: block.map((row) => row.map((pair) => pair.slack)),
    unpairedSeeds: missingFrom(new Set(keptSeeds), [...treatment.seeds, ...baseline.seeds]),
    unpairedTasks: missingFrom(new Set(keptTasks), [...a.tasks, ...b.tasks]),
    bounded: cells.filter(({ slack }) => slack > 0).length,
    missing: cells.filter(({ difference }) => difference === null).length,
    step: smallestStep(cells.flatMap(({ scores }) => scores)),
  }
}

interface Pair {
  readonly difference: number | null
  readonly slack: number
  /** The known scores in it. */
  readonly scores: readonly number[]
}

function pairOf(a: Cell, b: Cell): Pair {
  const scores = [a, b].filter((cell) => typeof cell === 'number')
  if (a === null || b === null) return { difference: null, slack: 0, scores }
  const [left, right] = [boundsOf(a), boundsOf(b)]
  const slack = (left.upper - left.lower + right.upper - right.lower) / 2
  // Two known scores are subtracted as they are: halving sums would cost the last digit.
  const difference = slack === 0 ? left.lower - right.lower : middle(left) - middle(right)
  return { difference, slack, scores }
}

function boundsOf(cell: Exclude<Cell, null>): { lower: number; upper: number } {
  return typeof cell === 'number' ? { lower: cell, upper: cell } : cell
}

function middle({ lower, upper }: { lower: number; upper: number }): number {
  return lower + (upper - lower) / 2
}

interface Arm {
  readonly rows: ReadonlyMap<SeedId, number>
  readonly columns: ReadonlyMap<string, number>
  readonly tasks: readonly string[]
  cell(seed: SeedId, task: string): Cell
}

function readArm({ seeds, tasks = ['score'], cells_S_T }: ArmScores, name: string): Arm {
  const rows = new Map(seeds.map((seed, s) => [seed, s]))
  const columns = new Map(tasks.map((task, t) => [task, t]))
  if (rows.size !== seeds.length) throw new RangeError(`the ${name} names a seed twice`)
  if (columns.size !== tasks.length) throw new RangeError(`the ${name} names a task twice`)
  if (cells_S_T.length !== seeds.length || cells_S_T.some((row) => row.length !== tasks.length)) {
    throw new RangeError(`the ${name} needs ${seeds.length} rows of ${tasks.length} scores`)
  }
  for (const cell of cells_S_T.flat()) {
    if (cell === null) continue
    const { lower, upper } = boundsOf(cell)
    if (!(Number.isFinite(lower) && Number.isFinite(upper) && lower <= upper)) {
      throw new RangeError(`the ${name} holds a score that is no finite number or pair of bounds: ${lower}, ${upper}`)
    }
  }
  const cell = (seed: SeedId, task: string) => at(at(cells_S_T, rows.get(seed) ?? -1), columns.get(task) ?? -1)
  return { rows, columns, tasks, cell }
}

// Seeds that share no task with others cannot be told from their tasks' difficulty: of several such islands the largest is kept.
function largestBlock(pairs: readonly (readonly Pair[])[]): { rows: number[]; columns: number[] } {
  const free = new Set(pairs.keys())
  let best: { rows: number[]; columns: number[]; size: number } = { rows: [], columns: [], size: 0 }
  for (const start of pairs.keys()) {
    if (!free.delete(start)) continue
    const rows = [start]
    const columns = new Set<number>()
    let size = 0
    for (const s of rows) {
      for (const [t, pair] of at(pairs, s).entries()) {
        if (pair.difference === null) continue
        size++
        if (columns.has(t)) continue
        columns.add(t)
        for (const other of free) {
          if (at(at(pairs, other), t).difference !== null && free.delete(other)) rows.push(other)
        }
      }
    }
    if (size > best.size) best = { rows: rows.sort(byValue), columns: [...columns].sort(byValue), size }
  }
  return best
}

function byValue(a: number, b: number): number {
  return a - b
}

function missingFrom<T>(kept: ReadonlySet<T>, all: readonly T[]): T[] {
  return [...new Set(all)].filter((item) => !kept.has(item))
}

function smallestStep(scores: readonly number[]): number | null {
  const sorted = [...new Set(scores)].sort(byValue)
  const range = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0)
  // 2/3 and 1 - 1/3 differ in the last bit: that is no step.
  const steps = sorted.map((score, i) => score - (sorted[i - 1] ?? score)).filter((step) => step > 1e-9 * range)
  return steps.length === 0 ? null : steps.reduce((least, step) => Math.min(least, step))
}
