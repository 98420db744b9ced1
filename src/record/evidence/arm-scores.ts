// Scores of an arm: one row per seed, one column per task, so that seeds and tasks are both by chance; and the interval that they give.
import type { Metric, MetricRange, Score, ThinClass } from '../../contracts/index.ts'
import { type ArmScores, type Cell, moments, scoreInterval } from '../../stats/index.ts'
import type { EvalRow, RunRow } from '../../store/index.ts'

export interface ScoredRun {
  readonly run: RunRow
  readonly selected: EvalRow
}

/** A metric of the lab's own that rewards alone give, task by task. */
export type TaskMetric = Pick<Metric, 'compute'> & { readonly params: unknown }

/** Scores by seed and task, or by seed alone where no task scores are known. */
export function armScores(scored: readonly ScoredRun[], metric: string, own: TaskMetric | undefined): ArmScores {
  const seeds = scored.map(({ run }) => run.seed)
  const byTask = scored.map(({ selected }) => taskCells(selected, metric, own))
  const tasks = byTask[0] === undefined ? [] : [...byTask[0].keys()]
  const isWhole = byTask.every(
    (cells) => cells !== undefined && cells.size === tasks.length && tasks.every((task) => cells.has(task)),
  )
  if (isWhole && tasks.length > 0) {
    return { seeds, tasks, cells_S_T: byTask.map((cells) => tasks.map((task) => cells?.get(task) ?? null)) }
  }
  return seedScores(scored, metric)
}

/** Whole scores, one for each seed. */
export function seedScores(scored: readonly ScoredRun[], metric: string): ArmScores {
  return {
    seeds: scored.map(({ run }) => run.seed),
    cells_S_T: scored.map(({ selected }) => [wholeCell(selected, metric)]),
  }
}

function wholeCell({ metrics, bounds }: EvalRow, metric: string): Cell {
  const open = bounds?.[metric]
  return open === undefined ? (metrics[metric] ?? null) : { lower: open[0], upper: open[1] }
}

function taskCells(selected: EvalRow, metric: string, own: TaskMetric | undefined): Map<string, Cell> | undefined {
  const stored = selected.byTask?.[metric]
  if (stored !== undefined) {
    const cellOf = (value: number | [number, number]): Cell =>
      typeof value === 'number' ? value : { lower: value[0], upper: value[1] }
    return new Map(Object.entries(stored).map(([task, value]) => [task, cellOf(value)]))
  }
  return own === undefined ? undefined : rewardCells(selected, metric, own)
}

// Only where the mean over tasks is the metric itself: a ratio of sums is not.
function rewardCells(
  { rewards, metrics, bounds }: EvalRow,
  metric: string,
  own: TaskMetric,
): Map<string, Cell> | undefined {
  if (rewards === undefined) return undefined
  const cells = new Map<string, Cell>()
  const at = (values: readonly number[]) => {
    const value = own.compute([values], { params: own.params, usage: [] })
    return typeof value === 'number' ? value : undefined
  }
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

/** Coverage of the intervals that scores carry. */
export const CONFIDENCE = 0.9

/** The score of an arm: mean over its seeds, with an interval on tasks like these. */
export function armScore(scored: readonly ScoredRun[], metric: string, own: TaskMetric | undefined): Score {
  const values = scored.map(({ selected }) => selected.metrics[metric] ?? 0)
  const range = rangeOf(
    scored.map(({ selected }) => selected),
    metric,
  )
  const scores = armScores(scored, metric, own)
  // Candidates of research may have run a seed twice.
  const rows = { ...scores, seeds: scores.seeds.map((seed, i) => `${seed}/${i}`) }
  const found = scoreInterval(rows, { confidence: CONFIDENCE, range })
  return {
    mean: moments(values).mean,
    ci: found === null ? null : [found.lower, found.upper],
    over: found?.over,
    too_few: tooFew(
      scored.map(({ selected }) => selected),
      metric,
    ),
    n: values.length,
  }
}

/** The class of which there are too few tasks for intervals of the metric. */
export function tooFew(evals: readonly EvalRow[], metric: string): ThinClass | undefined {
  return evals.flatMap(({ thin }) => thin?.[metric] ?? []).toSorted((a, b) => a.tasks - b.tasks)[0]
}

/** What a metric can be: as its plugin says, and in older records by its name. */
export function rangeOf(evals: readonly EvalRow[], metric: string): Readonly<MetricRange> | undefined {
  const whole = metric.replace(/\[.*$/, '') // `pass@1[topic=algebra]` is what pass@1 is
  for (const { ranges } of evals) if (ranges?.[whole] !== undefined) return ranges[whole]
  return /^(pass_rate|(pass|majority)[@^]\d+)$/.test(whole) ? [0, 1] : undefined
}

// Which evaluation of a run counts for a benchmark: the one of the selected checkpoint. Selection is by validation alone, so
// this never looks at a test score to choose.

/** The evaluation after training; else the in-loop one at the best step; else the last in-loop one. */
export function selectedEval(run: RunRow, evals: readonly EvalRow[], benchmark: string): EvalRow | undefined {
  const own = evals.filter((each) => each.benchmark === benchmark && each.error === undefined)
  const final = own.find((each) => each.step === undefined)
  const best = own.find((each) => each.step !== undefined && each.step === run.bestStep)
  return final ?? best ?? own.toSorted((a, b) => (b.step ?? 0) - (a.step ?? 0))[0]
}
