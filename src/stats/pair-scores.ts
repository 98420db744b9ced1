// Puts the scores of two arms side by side: same seed, same task. What cannot be paired is named, never dropped in silence, and a
// score that infrastructure lost stays in the table as its bounds.
import { at, meanOf } from './moments.ts'

/**
 * What is known of one score: the score; its bounds when infrastructure lost all or part of it; null when this seed never ran this
 * task. A task that the model failed is a score like any other.
 */
export type Cell = number | { readonly lower: number; readonly upper: number } | null

export type SeedId = number | string

/** No metric means a number beyond this, and squares of it still fit in a double. */
const largestScore = 1e100

/** Scores of one arm. */
export interface ArmScores {
  readonly seeds: readonly SeedId[]
  /** Absent: a seed has one score, and nothing is known of tasks. */
  readonly tasks?: readonly string[] | undefined
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
  /** What is too small to be a difference between scores of this size: rounding. */
  readonly rounding: number
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
  const all_S_T = pairCells(cellsOf(a, seeds, tasks), cellsOf(b, seeds, tasks))
  const { rows, columns } = largestBlock(all_S_T)
  if (rows.length === 0) throw new RangeError('the two arms share no seed and task')
  const keptSeeds = rows.map((s) => at(seeds, s))
  const keptTasks = columns.map((t) => at(tasks, t))
  const pairs_S_T = rows.map((s) => columns.map((t) => at(at(all_S_T, s), t)))
  const pairs = pairs_S_T.flat()
  return {
    seeds: keptSeeds,
    tasks: keptTasks,
    differences_S_T: pairs_S_T.map((row) => row.map((pair) => pair.difference)),
    slack_S_T: pairs_S_T.map((row) => row.map((pair) => pair.slack)),
    unpairedSeeds: missingFrom(new Set(keptSeeds), [...treatment.seeds, ...baseline.seeds]),
    unpairedTasks: missingFrom(new Set(keptTasks), [...a.tasks, ...b.tasks]),
    bounded: pairs.filter(({ slack }) => slack > 0).length,
    missing: pairs.filter(({ difference }) => difference === null).length,
    step: smallestStep(pairs),
    rounding:
      1e-12 * pairs.reduce((most, { treatment, baseline }) => Math.max(most, sizeOf(treatment), sizeOf(baseline)), 0),
  }
}

interface Pair {
  readonly treatment: Cell
  readonly baseline: Cell
  readonly difference: number | null
  readonly slack: number
}

function pairCells(a_S_T: readonly (readonly Cell[])[], b_S_T: readonly (readonly Cell[])[]): Pair[][] {
  return a_S_T.map((row, s) => row.map((cell, t) => pairOf(cell, b_S_T[s]?.[t] ?? null)))
}

function pairOf(treatment: Cell, baseline: Cell): Pair {
  if (treatment === null || baseline === null) return { treatment, baseline, difference: null, slack: 0 }
  if (typeof treatment === 'number' && typeof baseline === 'number') {
    return { treatment, baseline, difference: treatment - baseline, slack: 0 }
  }
  const [a, b] = [boundsOf(treatment), boundsOf(baseline)]
  const difference = (a.lower - b.upper + (a.upper - b.lower)) / 2
  return { treatment, baseline, difference, slack: (a.upper - a.lower + b.upper - b.lower) / 2 }
}

function boundsOf(cell: Exclude<Cell, null>): { readonly lower: number; readonly upper: number } {
  return typeof cell === 'number' ? { lower: cell, upper: cell } : cell
}

function sizeOf(cell: Cell): number {
  if (cell === null) return 0
  const { lower, upper } = boundsOf(cell)
  return Math.max(Math.abs(lower), Math.abs(upper))
}

interface Arm {
  readonly rows: ReadonlyMap<SeedId, readonly Cell[]>
  readonly columns: ReadonlyMap<string, number>
  readonly tasks: readonly string[]
}

function readArm({ seeds, tasks = ['score'], cells_S_T }: ArmScores, name: string): Arm {
  if (cells_S_T.length !== seeds.length || cells_S_T.some((row) => row.length !== tasks.length)) {
    throw new RangeError(`the ${name} needs ${seeds.length} rows of ${tasks.length} scores`)
  }
  const rows = new Map(seeds.map((seed, s) => [seed, at(cells_S_T, s)]))
  const columns = new Map(tasks.map((task, t) => [task, t]))
  if (rows.size !== seeds.length) throw new RangeError(`the ${name} names a seed twice`)
  if (columns.size !== tasks.length) throw new RangeError(`the ${name} names a task twice`)
  for (const row of cells_S_T) for (const cell of row) requireScore(cell, name)
  return { rows, columns, tasks }
}

function requireScore(cell: Cell, name: string): void {
  if (cell === null || (typeof cell === 'number' && Math.abs(cell) <= largestScore)) return
  const { lower, upper } = boundsOf(cell)
  if (!(lower >= -largestScore && lower <= upper && upper <= largestScore)) {
    throw new RangeError(`the ${name} holds a score that is no sensible number or pair of bounds: ${lower}, ${upper}`)
  }
}

/** The cells of an arm in the order of these seeds and tasks. */
function cellsOf({ rows, columns }: Arm, seeds: readonly SeedId[], tasks: readonly string[]): Cell[][] {
  const order = tasks.map((task) => columns.get(task) ?? -1)
  return seeds.map((seed) => {
    const row = rows.get(seed) ?? []
    return order.map((t) => row[t] ?? null)
  })
}

// Seeds that share no task with others cannot be separated from their tasks' difficulty: of several such islands the largest is kept.
function largestBlock(pairs: readonly (readonly Pair[])[]): { rows: number[]; columns: number[] } {
  if (pairs.every((row) => row.length > 0 && row.every(({ difference }) => difference !== null))) {
    return { rows: [...pairs.keys()], columns: [...(pairs[0] ?? []).keys()] }
  }
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

function smallestStep(pairs: readonly Pair[]): number | null {
  const scores = new Set<number>()
  for (const { treatment, baseline } of pairs) {
    if (typeof treatment === 'number') scores.add(treatment)
    if (typeof baseline === 'number') scores.add(baseline)
  }
  const sorted = [...scores].sort(byValue)
  const range = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0)
  // 2/3 and 1 - 1/3 differ in the last bit: that is no step.
  const steps = sorted.map((score, i) => score - (sorted[i - 1] ?? score)).filter((step) => step > 1e-9 * range)
  return steps.length === 0 ? null : steps.reduce((least, step) => Math.min(least, step))
}

// Completes a crossed table by its additive fit, row effect plus column effect, by least squares over the cells that are there
// (Yates 1933, "The analysis of replicated experiments when the field results are incomplete"). An easy task that one seed missed
// then does not count against that seed.
/** The table with every null replaced by its fit. Rows must be linked to each other through shared columns. */
export function fillMissing(values_S_T: readonly (readonly (number | null)[])[]): number[][] {
  if (values_S_T.every((row) => row.every((value) => value !== null))) return values_S_T.map((row) => row.map(known))
  const effects_S = rowEffects(values_S_T)
  const effects_T = Array.from({ length: values_S_T[0]?.length ?? 0 }, (_, t) =>
    columnMean(values_S_T.flatMap((row, s) => without(row[t], at(effects_S, s)))),
  )
  return values_S_T.map((row, s) => row.map((value, t) => value ?? at(effects_S, s) + at(effects_T, t)))
}

// Normal equations after the column effects are eliminated; the first row's effect is zero, the others are relative to it.
function rowEffects(values_S_T: readonly (readonly (number | null)[])[]): number[] {
  const n = values_S_T.length
  const system = Array.from({ length: n }, () => new Array<number>(n + 1).fill(0))
  for (let t = 0; t < (values_S_T[0]?.length ?? 0); t++) {
    const present = values_S_T.flatMap((row, s) => {
      const value = row[t] ?? null
      return value === null ? [] : [{ s, value }]
    })
    const mean = columnMean(present.map(({ value }) => value))
    for (const { s, value } of present) {
      const equation = at(system, s)
      equation[n] = at(equation, n) + value - mean
      equation[s] = at(equation, s) + 1
      for (const other of present) equation[other.s] = at(equation, other.s) - 1 / present.length
    }
  }
  return [0, ...solve(system.slice(1).map((equation) => equation.slice(1)))]
}

/** Gaussian elimination with partial pivoting on rows of [coefficients, right-hand side]. */
function solve(rows: number[][]): number[] {
  const n = rows.length
  for (let k = 0; k < n; k++) {
    let pivot = k
    for (let i = k + 1; i < n; i++) if (Math.abs(at(at(rows, i), k)) > Math.abs(at(at(rows, pivot), k))) pivot = i
    const top = at(rows, pivot)
    rows[pivot] = at(rows, k)
    rows[k] = top
    if (Math.abs(at(top, k)) < 1e-12) throw new RangeError('rows of the table are not linked by shared columns')
    for (let i = k + 1; i < n; i++) {
      const row = at(rows, i)
      const factor = at(row, k) / at(top, k)
      for (let j = k; j <= n; j++) row[j] = at(row, j) - factor * at(top, j)
    }
  }
  const solution = new Array<number>(n).fill(0)
  for (let k = n - 1; k >= 0; k--) {
    const row = at(rows, k)
    let rest = at(row, n)
    for (let j = k + 1; j < n; j++) rest -= at(row, j) * at(solution, j)
    solution[k] = rest / at(row, k)
  }
  return solution
}

function known(value: number | null): number {
  if (value === null) throw new RangeError('a value is missing')
  return value
}

function without(value: number | null | undefined, effect: number): number[] {
  return value === null || value === undefined ? [] : [value - effect]
}

function columnMean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('a column of the table is empty')
  return meanOf(values)
}
