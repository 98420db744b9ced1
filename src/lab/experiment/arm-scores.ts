// Scores of an arm for comparison: one row per seed, one column per task where the metric is a mean over tasks.
import type { Metric } from '../../contracts/index.ts'
import type { ArmScores, Cell } from '../../stats/index.ts'
import type { EvalRow, RunRow } from '../../store/index.ts'

export interface ScoredRun {
  readonly run: RunRow
  readonly selected: EvalRow
}

/** A metric of the lab's own that can be computed task by task; absent for metrics of a project, which run elsewhere. */
export type TaskMetric = Pick<Metric, 'compute'> & { readonly params: unknown }

/** Scores by seed and task, or by seed alone where no task scores are known. */
export function armScores(scored: readonly ScoredRun[], metric: string, own: TaskMetric | undefined): ArmScores {
  const seeds = scored.map(({ run }) => run.seed)
  const byTask = own === undefined ? undefined : scored.map(({ selected }) => taskCells(selected, metric, own))
  const tasks = byTask?.[0] === undefined ? [] : [...byTask[0].keys()]
  const isWhole = byTask?.every(
    (cells) => cells !== undefined && cells.size === tasks.length && tasks.every((task) => cells.has(task)),
  )
  if (byTask !== undefined && isWhole === true && tasks.length > 0) {
    return { seeds, tasks, cells_S_T: byTask.map((cells) => tasks.map((task) => cells?.get(task) ?? null)) }
  }
  return { seeds, cells_S_T: scored.map(({ selected }) => [wholeCell(selected, metric)]) }
}

function wholeCell({ metrics, bounds }: EvalRow, metric: string): Cell {
  const open = bounds?.[metric]
  return open === undefined ? (metrics[metric] ?? null) : { lower: open[0], upper: open[1] }
}

// Only where the mean over tasks is the metric itself: a ratio of sums is not.
function taskCells(
  { rewards, metrics, bounds }: EvalRow,
  metric: string,
  own: TaskMetric,
): Map<string, Cell> | undefined {
  if (rewards === undefined) return undefined
  const cells = new Map<string, Cell>()
  const at = (values: readonly number[]) => own.compute([values], { params: own.params, usage: [] })
  for (const [task, samples] of Object.entries(rewards)) {
    const lower = at(samples.map((reward) => reward ?? 0))
    const upper = at(samples.map((reward) => reward ?? 1))
    if (lower === undefined || upper === undefined) return undefined
    cells.set(task, lower === upper ? lower : { lower: Math.min(lower, upper), upper: Math.max(lower, upper) })
  }
  const total = metrics[metric]
  if (bounds?.[metric] !== undefined || total === undefined) return cells
  const mean =
    [...cells.values()].reduce<number>((sum, cell) => sum + (typeof cell === 'number' ? cell : 0), 0) /
    Math.max(1, cells.size)
  return Math.abs(mean - total) < 1e-9 ? cells : undefined
}
