// Does an arm hold on another benchmark, such as newer questions? Its scores on both, the difference with an interval, and how much of it is
// that the mix of classes is another.
import type { ClassMix, Direction, Score } from '../contracts/index.ts'
import { metricSpec } from '../contracts/index.ts'
import { EvsysError, suggest } from '../kernel/index.ts'
import { type ArmScores, betweenBenchmarks, type MeanDifference } from '../stats/index.ts'
import type { ExperimentRow, OpenStore } from '../store/index.ts'
import { armScore, armScores, CONFIDENCE, rangeOf, type ScoredRun, selectedEval } from './evidence/arm-scores.ts'
import { mixOf, type PartOfEffect, partOf } from './evidence/class-mix.ts'
import { evidenceOf, metricOf } from './evidence/evidence-of.ts'

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

export interface BenchmarkDifference extends PartOfEffect {
  readonly metric: string
  readonly direction: Direction
  readonly baseline: SideScore
  readonly treatment: SideScore
  readonly over: MeanDifference['over']
  readonly confidence: number
  /** Seeds that both have; 0: rows were paired by their place. */
  readonly shared_seeds: number
  /** The effect in two parts; null: `unmixed` says why. */
  readonly mix: ClassMix | null
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
