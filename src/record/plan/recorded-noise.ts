// How much the difference of two arms moves by chance, from the scores of earlier experiments on the same benchmark: between seeds,
// between tasks, and in single cells.
import type { Benchmark } from '../../contracts/index.ts'
import { type ArmScores, type Cell, crossedAnova, type DifferenceVariances } from '../../stats/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { armScores, type ScoredRun, seedScores, selectedEval } from '../evidence/arm-scores.ts'
import { isDryRun } from '../evidence/dry-run.ts'
import { metricOf } from '../evidence/evidence-of.ts'

export interface RecordedNoise {
  readonly variances: DifferenceVariances
  readonly experiments: number
  /** Of the newest experiment. */
  readonly tasks: number
  /** Scores are known by seed alone: `seed` holds all of the variance. */
  readonly isWhole: boolean
}

/** Experiments that are looked at, the newest first, and those of them whose scores are read. */
const MOST_EXPERIMENTS = 200
const MOST_READ = 20

/** Undefined: nothing was measured twice yet, or everything came out equal. */
export async function recordedNoise(
  store: OpenStore,
  benchmark: Benchmark,
  metric: string,
): Promise<RecordedNoise | undefined> {
  const rows = (await store.experiments({ limit: MOST_EXPERIMENTS }))
    .filter((row) => row.verdict !== undefined && !isDryRun(row) && isJudgedBy(row, benchmark, metric))
    .slice(0, MOST_READ)
  const arms: ScoredRun[][][] = []
  for (const row of rows) arms.push(await scoredArms(store, row, benchmark.name, metric))
  const own = metricOf(metric)
  const tablesOf = (isWhole: boolean) =>
    arms.map((each) =>
      differences(each.map((runs) => (isWhole ? seedScores(runs, metric) : armScores(runs, metric, own)))),
    )
  const byTask = tablesOf(false)
  const isWhole = byTask.flat().some(({ values_S_T }) => values_S_T[0]?.length === 1)
  const found = (isWhole ? tablesOf(true) : byTask).filter((tables) => tables.length > 0)
  const tables = found.flat()
  const variances = pooled(tables)
  if (variances === undefined) return undefined
  return { variances, experiments: found.length, tasks: tables[0]?.values_S_T[0]?.length ?? 1, isWhole }
}

/** How much the scores of one arm on two benchmarks differ by chance: tasks are other ones, so each side adds all of its variance. */
export async function noiseBetween(
  store: OpenStore,
  [first, second]: readonly [Benchmark, Benchmark],
  metric: string,
): Promise<RecordedNoise | undefined> {
  const own = metricOf(metric)
  const sums = { seed: 0, task: 0, residual: 0, n: 0 }
  const counts: number[] = []
  let experiments = 0
  const rows = (await store.experiments({ limit: MOST_EXPERIMENTS }))
    .filter(
      (row) => row.verdict !== undefined && !isDryRun(row) && [first, second].every((each) => hasBenchmark(row, each)),
    )
    .slice(0, MOST_READ)
  for (const row of rows) {
    const sides = [await scoredArms(store, row, first.name, metric), await scoredArms(store, row, second.name, metric)]
    const before = sums.n
    for (const runs of sides[0] ?? []) {
      const others = sides[1]?.find(([each]) => each?.run.arm === runs[0]?.run.arm)
      if (others === undefined) continue
      const tables = [armScores(runs, metric, own), armScores(others, metric, own)]
      if (tables.some(({ tasks }) => tasks === undefined)) continue
      const [a, b] = tables.map(({ cells_S_T }) => cells_S_T.map((cells) => cells.map(middle)))
      if (a === undefined || b === undefined || a.length !== b.length) continue
      const found = [a, b].map((table) => crossedAnova(table).variance)
      const total = (of: 'task' | 'residual') => found.reduce((sum, each) => sum + (each[of] ?? 0), 0)
      const mean = (row: readonly number[] = []) => row.reduce((sum, each) => sum + each, 0) / Math.max(1, row.length)
      // What seeds of both sides add is theirs in common, less what single answers make of it.
      const ofSeeds = crossedAnova(a.map((cells, s) => [mean(b[s]) - mean(cells)])).variance.seed ?? 0
      const ofCells = found.reduce((sum, { residual }, i) => sum + (residual ?? 0) / ([a, b][i]?.[0]?.length ?? 1), 0)
      sums.seed += Math.max(0, ofSeeds - ofCells)
      sums.task += total('task')
      sums.residual += total('residual')
      sums.n++
      counts.push(2 / [a, b].reduce((sum, table) => sum + 1 / (table[0]?.length ?? 1), 0))
    }
    if (sums.n > before) experiments++
  }
  const of = (sum: number) => sum / Math.max(1, sums.n)
  const variances = { seed: of(sums.seed), task: of(sums.task), residual: of(sums.residual) }
  if (variances.seed + variances.task + variances.residual === 0) return undefined
  return { variances, experiments, tasks: Math.max(1, Math.round(counts[0] ?? 1)), isWhole: false }
}

function hasBenchmark({ plan }: ExperimentRow, { name, path, split }: Benchmark): boolean {
  const own = plan.experiment.metadata.benchmark.find((each) => each.name === name)
  return own?.path === path && own?.split === split
}

function isJudgedBy({ objective, plan }: ExperimentRow, { name, path, split }: Benchmark, metric: string): boolean {
  const judged = [objective, plan.claim, ...(plan.claims ?? [])]
  if (!judged.some((each) => each?.benchmark === name && each.metric === metric)) return false
  const own = plan.experiment.metadata.benchmark.find((each) => each.name === name)
  return own?.path === path && own?.split === split
}

async function scoredArms(store: OpenStore, row: ExperimentRow, benchmark: string, metric: string) {
  const arms = new Map<string, ScoredRun[]>()
  const runs = await store.runs(row.id)
  const lastOf = (arm: string) => Math.max(...runs.map((run) => (run.arm === arm ? (run.stage ?? 0) : 0)))
  for (const run of runs) {
    if (run.status !== 'completed' || run.invalid !== undefined || (run.stage ?? 0) !== lastOf(run.arm)) continue
    const selected = selectedEval(run, await store.evals(run.id), benchmark)
    if (selected?.metrics[metric] === undefined) continue
    arms.set(run.arm, [...(arms.get(run.arm) ?? []), { run, selected }])
  }
  return [...arms.values()].filter((scored) => scored.length >= 2)
}

interface Table {
  readonly values_S_T: readonly (readonly number[])[]
  /** Scores of an arm alone, in place of differences. */
  readonly isAlone: boolean
}

// Every arm against the first, seed by seed and task by task.
function differences([first, ...others]: readonly ArmScores[]): Table[] {
  if (first === undefined) return []
  if (others.length === 0) return [{ values_S_T: first.cells_S_T.map((row) => row.map(middle)), isAlone: true }]
  return others.flatMap((other) => {
    const columns = first.tasks?.map((task) => other.tasks?.indexOf(task) ?? -1) ?? [0]
    if (columns.includes(-1)) return []
    const values_S_T = first.seeds.flatMap((seed, s) => {
      const row = other.cells_S_T[other.seeds.indexOf(seed)]
      const own = first.cells_S_T[s]
      return row === undefined || own === undefined
        ? []
        : [columns.map((column, t) => middle(row[column]) - middle(own[t]))]
    })
    return values_S_T.length < 2 ? [] : [{ values_S_T, isAlone: false }]
  })
}

function middle(cell: Cell | undefined): number {
  if (typeof cell === 'number') return cell
  return cell === null || cell === undefined ? 0 : (cell.lower + cell.upper) / 2
}

/**
 * Components of variance, each averaged over the tables by its degrees of freedom. Two runs of one arm differ by twice its variance between
 * seeds and in cells; between tasks a difference is taken to have the variance of the arm, as if tasks of two arms correlated by one half.
 */
function pooled(tables: readonly Table[]): DifferenceVariances | undefined {
  const sums = { seed: [0, 0], task: [0, 0], residual: [0, 0] }
  const add = (name: keyof typeof sums, value: number, df: number) => {
    const [sum = 0, weight = 0] = sums[name]
    sums[name] = [sum + df * value, weight + df]
  }
  for (const { values_S_T, isAlone } of tables) {
    const nTasks = values_S_T[0]?.length ?? 1
    const { seed, task, residual } = crossedAnova(values_S_T)
    const times = isAlone ? 2 : 1
    const rest = residual?.value ?? 0
    if (seed !== null) add('seed', (times * (seed.value - rest)) / nTasks, seed.df)
    if (task !== null) add('task', (task.value - rest) / values_S_T.length, task.df)
    if (residual !== null) add('residual', times * rest, residual.df)
  }
  const of = ([sum = 0, weight = 0]: readonly number[]) => (weight === 0 ? 0 : Math.max(0, sum / weight))
  const found = { seed: of(sums.seed), task: of(sums.task), residual: of(sums.residual) }
  return found.seed + found.task + found.residual === 0 ? undefined : found
}
