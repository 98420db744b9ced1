// How much of the difference between two benchmarks is that their mix of classes is another; classes are the answers that are expected.
import type { ClassMix, Direction } from '../../contracts/index.ts'
import { type ArmScores, type Cell, type LabelScores, type MeanDifference, mixParts } from '../../stats/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { CONFIDENCE, rangeOf, type ScoredRun } from './arm-scores.ts'
import { answersOf } from './report-details.ts'

export interface PartOfEffect {
  effect: number
  interval: [number, number] | null
}

interface MixInput {
  readonly runs: readonly [readonly ScoredRun[], readonly ScoredRun[]]
  readonly scores: readonly [ArmScores, ArmScores]
  readonly metric: string
  readonly direction: Direction
  readonly projectDir: string
}

/** The difference in two parts, where the metric is a mean over tasks and their labels are known. */
export async function mixOf(
  store: OpenStore,
  { runs, scores, metric, direction, projectDir }: MixInput,
): Promise<{ mix: ClassMix | null; unmixed?: string | undefined }> {
  if (!scores.every((each, i) => isMeanOfTasks(each, runs[i] ?? [], metric))) {
    return { mix: null, unmixed: `${metric} is no mean over tasks` }
  }
  const [first, second] = [
    await labelsOf(store, runs[0], scores[0].tasks ?? [], projectDir),
    await labelsOf(store, runs[1], scores[1].tasks ?? [], projectDir),
  ]
  if (first === undefined || second === undefined) {
    return { mix: null, unmixed: 'no label is known of some tasks: their answers are not kept, or expect no text' }
  }
  // Where nearly every task has an answer of its own, answers are no classes.
  if ([first, second].some((labels) => 2 * new Set(labels).size > labels.length)) {
    return { mix: null, unmixed: 'the expected answers are no classes: fewer than two tasks share one' }
  }
  const { mix, within, labels } = mixParts(scores[0], scores[1], { first, second }, CONFIDENCE)
  return { mix: { of_mix: partOf(mix, direction), within: partOf(within, direction), labels: labels.map(mutable) } }
}

function mutable({ label, shares, scores }: LabelScores): ClassMix['labels'][number] {
  return { label, shares: [...shares], scores: [...scores] }
}

// Metrics of classes are compared by pseudo-values of the jackknife, whose mean is the score too: they are no scores of tasks, and leave
// the range of the metric.
const ofClasses = /^(?:macro_f1|per_class|confusion)(?:$|[/[])/

function isMeanOfTasks({ tasks, cells_S_T }: ArmScores, runs: readonly ScoredRun[], metric: string): boolean {
  const evals = runs.map(({ selected }) => selected)
  const [least, most] = rangeOf(evals, metric) ?? [null, null]
  const isWithin = (cell: Cell) =>
    typeof cell !== 'number' || (cell >= (least ?? cell) - 1e-9 && cell <= (most ?? cell) + 1e-9)
  return (
    tasks !== undefined &&
    !ofClasses.test(metric) &&
    cells_S_T.every((row) => row.every(isWithin)) &&
    cells_S_T.every((row, s) => {
      const mean =
        row.reduce<number>((sum, cell) => sum + (typeof cell === 'number' ? cell : Number.NaN), 0) / row.length
      return Math.abs(mean - (runs[s]?.selected.metrics[metric] ?? Number.NaN)) < 1e-9
    })
  )
}

/** What is expected of each task; undefined where that is not known of all. */
async function labelsOf(
  store: OpenStore,
  runs: readonly ScoredRun[],
  tasks: readonly string[],
  projectDir: string,
): Promise<string[] | undefined> {
  for (const { run, selected } of runs) {
    const answers = await answersOf(store, run, projectDir, selected)
    const known = new Map(answers.map(({ task_id, expected }) => [task_id, expected]))
    const labels = tasks.flatMap((task) => {
      const label = known.get(task)
      return typeof label === 'string' ? [label] : []
    })
    if (labels.length === tasks.length) return labels
  }
  return undefined
}

export function partOf(
  { effect, interval }: Pick<MeanDifference, 'effect' | 'interval'>,
  direction: Direction,
): PartOfEffect {
  if (direction === 'max') return { effect, interval: interval === null ? null : [interval.lower, interval.upper] }
  return { effect: 0 - effect, interval: interval === null ? null : [0 - interval.upper, 0 - interval.lower] }
}
