// Experiments side by side. Scores are set against each other only where the same scorer gave them: equal tasks, verifiers,
// metrics and code. What differs is named, not averaged away.
import type { Direction, Verdict } from '../../contracts/index.ts'
import { hashOf, keyedRandom } from '../../kernel/index.ts'
import { type ArmScores, comparePaired, welchTInterval } from '../../stats/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { armScores } from '../experiment/arm-scores.ts'
import { evidenceOf, metricOf } from '../experiment/conclude-experiment.ts'
import { CONFIDENCE } from '../experiment/seed-score.ts'
import { type ConfigDifference, configDifferences } from './config-differences.ts'
import { type ScoredArm, type ScoredGroup, type ScoreGroup, scoreGroups, type Weighed } from './score-groups.ts'

/** The best arm of an experiment against that of the first one. */
export interface ComparedEffect {
  readonly benchmark: string
  readonly metric: string
  readonly treatment: { readonly experiment_id: string; readonly arm: string }
  readonly baseline: { readonly experiment_id: string; readonly arm: string }
  /** Improvement; positive is better whatever the direction. */
  readonly effect: number
  readonly interval: readonly [number, number] | null
  readonly confidence: number
  /** Seeds that both have; 0: the arms are compared as independent samples. */
  readonly shared_seeds: number
}

export interface Comparison {
  readonly experiments: readonly {
    readonly experiment_id: string
    readonly name: string
    readonly verdict: Verdict | null
    readonly objective: { readonly metric: string; readonly direction: Direction } | null
    readonly best_arm: string | null
  }[]
  readonly groups: readonly ScoreGroup[]
  /** Benchmarks of one name that were scored differently, and by whom. */
  readonly refused: readonly {
    readonly benchmark: string
    readonly scorers: readonly { readonly experiment_id: string; readonly scorer_hash: string }[]
  }[]
  readonly effects: readonly ComparedEffect[]
  /** Where the configurations of the best arms differ. */
  readonly differences: readonly ConfigDifference[]
}

/** Compares experiments with the first of them. */
export async function compareExperiments(store: OpenStore, experiments: readonly ExperimentRow[]): Promise<Comparison> {
  const weighed: Weighed[] = []
  for (const experiment of experiments) {
    const { evidence, runs } = await evidenceOf(store, experiment)
    const counted = runs.filter(({ run }) => run.invalid === undefined && run.status === 'completed')
    weighed.push({ experiment, runs: counted, bestArm: evidence.best_arm })
  }
  const groups = scoreGroups(weighed)
  return {
    experiments: weighed.map(({ experiment: { id, name, verdict, objective }, bestArm }) => ({
      experiment_id: id,
      name,
      verdict: verdict ?? null,
      objective:
        objective === undefined
          ? null
          : { metric: `${objective.benchmark}.${objective.metric}`, direction: objective.direction },
      best_arm: bestArm,
    })),
    groups: groups.map(({ scored: _scored, ...group }) => group),
    refused: refusedBenchmarks(weighed),
    effects: groups.flatMap((group) => groupEffects(group, weighed)),
    differences: configDifferences(
      weighed.map(({ runs, bestArm }) => (runs.find(({ run }) => run.arm === bestArm) ?? runs[0])?.run.config),
    ),
  }
}

function refusedBenchmarks(weighed: readonly Weighed[]): Comparison['refused'] {
  const scorers = new Map<string, { experiment_id: string; scorer_hash: string }[]>()
  for (const { experiment, runs } of weighed) {
    for (const { benchmark, scorerHash } of runs.flatMap(({ evals }) => evals)) {
      const known = scorers.get(benchmark) ?? []
      if (known.some((each) => each.experiment_id === experiment.id && each.scorer_hash === scorerHash)) continue
      scorers.set(benchmark, [...known, { experiment_id: experiment.id, scorer_hash: scorerHash }])
    }
  }
  return [...scorers].flatMap(([benchmark, each]) =>
    new Set(each.map(({ scorer_hash }) => scorer_hash)).size > 1 ? [{ benchmark, scorers: each }] : [],
  )
}

function groupEffects({ scored, ...group }: ScoredGroup, weighed: readonly Weighed[]): ComparedEffect[] {
  const best = weighed.map(({ experiment, bestArm }) => {
    const own = scored.filter((each) => each.experiment_id === experiment.id)
    return own.find(({ arm }) => arm === bestArm) ?? own[0]
  })
  const [baseline, ...others] = best
  if (baseline === undefined) return []
  return others.flatMap((treatment) => (treatment === undefined ? [] : [effectOf(treatment, baseline, group)]))
}

function effectOf(
  treatment: ScoredArm,
  baseline: ScoredArm,
  { benchmark, metric, direction }: Pick<ScoreGroup, 'benchmark' | 'metric' | 'direction'>,
): ComparedEffect {
  const names = {
    benchmark,
    metric,
    treatment: { experiment_id: treatment.experiment_id, arm: treatment.arm },
    baseline: { experiment_id: baseline.experiment_id, arm: baseline.arm },
    confidence: CONFIDENCE,
  }
  const [a, b] = alike(scoresOf(treatment, metric), scoresOf(baseline, metric))
  const shared = a.seeds.filter((seed) => b.seeds.includes(seed)).length
  if (shared >= 2) {
    const random = keyedRandom(Number.parseInt(hashOf(names).slice(0, 8), 16), 'sign-flip')
    const paired = comparePaired({ treatment: a, baseline: b, direction, minEffect: 0, confidence: CONFIDENCE, random })
    const { effect, interval, seeds } = paired
    return { ...names, effect, interval: pairOf(interval), shared_seeds: seeds.length }
  }
  const sign = direction === 'min' ? -1 : 1
  const values = ({ runs }: ScoredArm) => runs.map(({ selected }) => sign * (selected.metrics[metric] ?? 0))
  const { estimate, interval } = welchTInterval(values(treatment), values(baseline), CONFIDENCE)
  return { ...names, effect: estimate, interval: pairOf(interval), shared_seeds: 0 }
}

function scoresOf({ runs }: ScoredArm, metric: string): ArmScores {
  return armScores(runs, metric, metricOf(metric))
}

// Task by task where both know their tasks, else by seed alone.
function alike(a: ArmScores, b: ArmScores): [ArmScores, ArmScores] {
  if ((a.tasks === undefined) === (b.tasks === undefined)) return [a, b]
  return [bySeed(a), bySeed(b)]
}

function bySeed({ seeds, cells_S_T }: ArmScores): ArmScores {
  const mean = (row: ArmScores['cells_S_T'][number]) => {
    const bounds = row.map((cell) =>
      typeof cell === 'number' ? { lower: cell, upper: cell } : (cell ?? { lower: 0, upper: 0 }),
    )
    const of = (side: 'lower' | 'upper') => bounds.reduce((sum, each) => sum + each[side], 0) / Math.max(1, row.length)
    return of('lower') === of('upper') ? of('lower') : { lower: of('lower'), upper: of('upper') }
  }
  return { seeds, cells_S_T: cells_S_T.map((row) => [mean(row)]) }
}

function pairOf(interval: { lower: number; upper: number } | null): [number, number] | null {
  return interval === null ? null : [interval.lower, interval.upper]
}
