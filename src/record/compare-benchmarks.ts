// Does an arm hold on another benchmark, such as newer questions? Its scores on both, the difference with an interval, and how much of it is
// that the mix of classes is another.
import type { Direction, Score } from '../contracts/index.ts'
import { metricSpec } from '../contracts/index.ts'
import { EvsysError, suggest } from '../kernel/index.ts'
import { type ArmScores, betweenBenchmarks, type LabelScores, type MeanDifference, mixParts } from '../stats/index.ts'
import type { ExperimentRow, OpenStore } from '../store/index.ts'
import { armScore, armScores, CONFIDENCE, rangeOf, type ScoredRun, selectedEval } from './evidence/arm-scores.ts'
import { evidenceOf, metricOf } from './evidence/evidence-of.ts'
import { answersOf } from './evidence/report-details.ts'

/** An arm of an experiment on one of its benchmarks; without an arm, the best one. */
export interface BenchmarkSide {
  readonly experiment: ExperimentRow
  readonly arm?: string | undefined
  readonly benchmark: string
}

interface SideScore {
  readonly experiment_id: string
  readonly arm: string
  readonly benchmark: string
  readonly n_tasks: number
  readonly score: Score
}

interface PartOfDifference {
  readonly effect: number
  readonly interval: readonly [number, number] | null
}

export interface BenchmarkDifference extends PartOfDifference {
  readonly metric: string
  readonly direction: Direction
  readonly baseline: SideScore
  readonly treatment: SideScore
  readonly over: MeanDifference['over']
  readonly confidence: number
  /** Seeds that both have; 0: rows were paired by their place. */
  readonly shared_seeds: number
  /** The effect in two parts; null: `unmixed` says why. */
  readonly mix: {
    /** The baseline's scores by label, weighed by the other's shares, less its score. */
    readonly of_mix: PartOfDifference
    readonly within: PartOfDifference
    readonly labels: readonly LabelScores[]
  } | null
  readonly unmixed?: string | undefined
}

export interface BenchmarkComparison {
  readonly sides: readonly {
    readonly experiment_id: string
    readonly name: string
    readonly benchmark: string
    readonly arm: string
  }[]
  /** Each against the first, by every metric that both have; positive is better. */
  readonly differences: readonly BenchmarkDifference[]
}

/** Compares arms on benchmarks with the first. `projectDir`: where answers lie, which have the labels. */
export async function compareBenchmarks(
  store: OpenStore,
  sides: readonly BenchmarkSide[],
  projectDir: string,
): Promise<BenchmarkComparison> {
  const scored = await Promise.all(sides.map((side) => sideRuns(store, side)))
  const [baseline, ...others] = scored
  const differences: BenchmarkDifference[] = []
  for (const treatment of others) {
    if (baseline === undefined) continue
    for (const metric of baseline.metrics.filter((each) => treatment.metrics.includes(each))) {
      const found = await differenceOf(store, [baseline, treatment], metric, projectDir)
      if (found !== undefined) differences.push(found)
    }
  }
  const shown = scored.map(({ side: { experiment, benchmark }, arm }) => ({
    experiment_id: experiment.id,
    name: experiment.name,
    benchmark,
    arm,
  }))
  return { sides: shown, differences }
}

interface Side {
  readonly side: BenchmarkSide
  readonly arm: string
  readonly metrics: readonly string[]
  readonly runs: readonly ScoredRun[]
}

async function sideRuns(store: OpenStore, side: BenchmarkSide): Promise<Side> {
  const { experiment, benchmark } = side
  const written = experiment.plan.experiment.metadata.benchmark
  const own = written.find(({ name }) => name === benchmark)
  if (own === undefined) {
    throw new EvsysError('CLI_USAGE', `experiment "${experiment.name}" has no benchmark "${benchmark}"`, {
      fix: suggest(
        benchmark,
        written.map(({ name }) => name),
      ),
    })
  }
  const { evidence, runs } = await evidenceOf(store, experiment)
  const arm = side.arm ?? evidence.best_arm ?? undefined
  if (arm === undefined) {
    throw new EvsysError('CLI_USAGE', `experiment "${experiment.name}" has no best arm`, {
      fix: `name the arm: ${experiment.name}/ARM@${benchmark}.`,
    })
  }
  const valid = runs.filter(({ run }) => run.arm === arm && run.invalid === undefined && run.status === 'completed')
  // Of a chain of stages only the last one is the arm's result.
  const last = Math.max(0, ...valid.map(({ run }) => run.stage ?? 0))
  const scored = valid.flatMap(({ run, evals }) => {
    const selected = (run.stage ?? 0) === last ? selectedEval(run, evals, benchmark) : undefined
    return selected === undefined ? [] : [{ run, selected }]
  })
  return { side, arm, metrics: own.metrics.map((each) => metricSpec(each).name), runs: scored }
}

async function differenceOf(
  store: OpenStore,
  sides: readonly [Side, Side],
  metric: string,
  projectDir: string,
): Promise<BenchmarkDifference | undefined> {
  const [a, b] = sides.map(({ runs }) => runs.filter(({ selected }) => selected.metrics[metric] !== undefined)) as [
    ScoredRun[],
    ScoredRun[],
  ]
  if (a.length === 0 || b.length === 0) return undefined
  const own = metricOf(metric)
  const scores: [ArmScores, ArmScores] = [armScores(a, metric, own), armScores(b, metric, own)]
  const direction = directionOf(sides, metric)
  const range = rangeOf(
    [...a, ...b].map(({ selected }) => selected),
    metric,
  )
  const { over, ...found } = betweenBenchmarks(scores[0], scores[1], { confidence: CONFIDENCE, range })
  const sideOf = ({ side, arm }: Side, runs: readonly ScoredRun[], { tasks }: ArmScores): SideScore => ({
    experiment_id: side.experiment.id,
    arm,
    benchmark: side.benchmark,
    n_tasks: tasks?.length ?? runs[0]?.selected.nTasks ?? 0,
    score: armScore(runs, metric, own),
  })
  return {
    metric,
    direction,
    baseline: sideOf(sides[0], a, scores[0]),
    treatment: sideOf(sides[1], b, scores[1]),
    ...partOf(found, direction),
    over,
    confidence: CONFIDENCE,
    shared_seeds: scores[0].seeds.filter((seed) => scores[1].seeds.includes(seed)).length,
    ...(await mixOf(store, { runs: [a, b], scores, metric, direction, projectDir })),
  }
}

function partOf(
  { effect, interval }: Pick<MeanDifference, 'effect' | 'interval'>,
  direction: Direction,
): PartOfDifference {
  if (direction === 'max') return { effect, interval: interval === null ? null : [interval.lower, interval.upper] }
  return { effect: 0 - effect, interval: interval === null ? null : [0 - interval.upper, 0 - interval.lower] }
}

interface MixInput {
  readonly runs: readonly [readonly ScoredRun[], readonly ScoredRun[]]
  readonly scores: readonly [ArmScores, ArmScores]
  readonly metric: string
  readonly direction: Direction
  readonly projectDir: string
}

async function mixOf(
  store: OpenStore,
  { runs, scores, metric, direction, projectDir }: MixInput,
): Promise<Pick<BenchmarkDifference, 'mix' | 'unmixed'>> {
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
  return { mix: { of_mix: partOf(mix, direction), within: partOf(within, direction), labels } }
}

function isMeanOfTasks({ tasks, cells_S_T }: ArmScores, runs: readonly ScoredRun[], metric: string): boolean {
  return (
    tasks !== undefined &&
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

function directionOf(sides: readonly Side[], metric: string): Direction {
  const judged = sides.flatMap(
    ({
      side: {
        experiment: { plan },
      },
    }) => [...(plan.claims ?? [plan.claim]), plan.objective],
  )
  return judged.find((each) => each?.metric === metric)?.direction ?? 'max'
}
