// Scores of an arm for comparison: one row per seed, one column per task where the metric is a mean over tasks.
import type { Metric, Score } from '../../contracts/index.ts'
import { type ArmScores, type Cell, moments, tInterval, wilson } from '../../stats/index.ts'
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

// The score of an arm: mean over its seeds, with an interval.

/** Coverage of the intervals that scores carry. */
export const CONFIDENCE = 0.9

interface SeedValue {
  readonly value: number
  readonly selected: EvalRow
}

export function seedScore(seeds: readonly SeedValue[], metric: string): Score {
  const values = seeds.map(({ value }) => value)
  const interval =
    values.length > 1 && new Set(values).size === 1 ? agreed(seeds) : tInterval(values, CONFIDENCE).interval
  const [least, most] = isShare(metric) ? [0, 1] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return {
    mean: moments(values).mean,
    ci: interval === null ? null : [Math.max(interval.lower, least), Math.min(interval.upper, most)],
    n: values.length,
  }
}

// What such a metric measures is a share of the tasks: an interval reaches no further than shares do.
function isShare(metric: string): boolean {
  return /^(pass_rate|(pass|majority)[@^]\d+)(\[|$)/.test(metric)
}

// Seeds that all score the same show no spread, which is not certainty. What is left is that the tasks are a sample, each of
// which counts once: of right and wrong answers by their share, of other rewards by their mean, where the score is that mean.
function agreed([first]: readonly SeedValue[]) {
  const tasks = Object.values(first?.selected.rewards ?? {})
  const score = first?.value ?? Number.NaN
  if (tasks.length === 0) return null
  if (score >= 0 && score <= 1 && tasks.flat().every((reward) => reward === 0 || reward === 1 || reward === null)) {
    // Several answers may make a task right in part; one without a reward may be either.
    const open = tasks.filter((rewards) => rewards.includes(null)).length
    const rounded = (right: number) => Number(right.toFixed(9))
    const fewest = Math.floor(rounded(score * (tasks.length - open)))
    const most = Math.min(tasks.length, Math.ceil(rounded(score * tasks.length)) + open)
    return {
      lower: wilson(fewest, tasks.length, CONFIDENCE).lower,
      upper: wilson(most, tasks.length, CONFIDENCE).upper,
    }
  }
  const means = tasks.map((rewards) => moments(rewards.map((reward) => reward ?? 0)).mean)
  const { estimate, standardError, interval } = tInterval(means, CONFIDENCE)
  return standardError !== 0 && Math.abs(estimate - score) < 1e-9 ? interval : null
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
