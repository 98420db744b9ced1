// Experiments side by side. Scores are set against each other only where the same scorer gave them: equal tasks, verifiers,
// metrics and code. What differs is named, not averaged away.

import type { Direction, RunRow, Score, Verdict } from '../contracts/index.ts'
import { metricSpec } from '../contracts/index.ts'
import { canonicalJson, hashOf, keyedRandom } from '../kernel/index.ts'
import { type ArmScores, comparePaired, welchTInterval } from '../stats/index.ts'
import type { ExperimentRow, OpenStore } from '../store/index.ts'
import { armScore, armScores, CONFIDENCE, rangeOf, type ScoredRun, selectedEval } from './evidence/arm-scores.ts'
import { evidenceOf, metricOf, shownObjective } from './evidence/evidence-of.ts'
import type { RecordedRun } from './evidence/weigh-evidence.ts'

/** An arm of an experiment, the best unless one is named, against that of the first one. */
interface ComparedEffect {
  readonly benchmark: string
  readonly metric: string
  readonly treatment: { readonly experiment_id: string; readonly arm: string }
  readonly baseline: { readonly experiment_id: string; readonly arm: string }
  /** Improvement; positive is better whatever the direction. */
  readonly effect: number
  readonly interval: readonly [number, number] | null
  /** The chance that the interval covers; absent: none. */
  readonly over?: 'seeds' | 'tasks' | 'both' | undefined
  readonly confidence: number
  /** Seeds that both have; 0: seeds are independent samples, and tasks are paired where both know theirs. */
  readonly shared_seeds: number
}

export interface Comparison {
  readonly experiments: readonly {
    readonly experiment_id: string
    readonly name: string
    readonly verdict: Verdict | null
    readonly objective: { readonly metric: string; readonly direction: Direction } | null
    readonly best_arm: string | null
    /** Named to be compared; absent: all arms are shown, and the best one is compared. */
    readonly arm?: string | undefined
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

/** What is compared: an experiment by its best arm, or one of its arms. */
export interface ComparedSide {
  readonly experiment: ExperimentRow
  readonly arm?: string | undefined
}

/** Compares experiments, or arms of them, with the first. */
export async function compareExperiments(store: OpenStore, sides: readonly ComparedSide[]): Promise<Comparison> {
  const weighed: Weighed[] = []
  for (const { experiment, arm } of sides) {
    const { evidence, runs } = await evidenceOf(store, experiment)
    const counted = runs.filter(
      ({ run }) => run.invalid === undefined && run.status === 'completed' && (arm === undefined || run.arm === arm),
    )
    weighed.push({ experiment, runs: counted, arm, bestArm: evidence.best_arm })
  }
  const groups = scoreGroups(weighed)
  return {
    experiments: weighed.map(({ experiment: { id, name, verdict, objective }, bestArm, arm }) => ({
      experiment_id: id,
      name,
      verdict: verdict ?? null,
      objective: shownObjective(objective),
      best_arm: bestArm,
      arm,
    })),
    groups: groups.map(({ scored: _scored, ...group }) => group),
    refused: refusedBenchmarks(weighed),
    effects: groups.flatMap((group) => groupEffects(group, weighed)),
    differences: configDifferences(
      weighed.map(({ runs, arm, bestArm }) => (runs.find(({ run }) => run.arm === (arm ?? bestArm)) ?? runs[0])?.run),
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
  const best = weighed.map(({ experiment, arm: named, bestArm }) => {
    const own = scored.filter((each) => each.experiment_id === experiment.id)
    return own.find(({ arm }) => arm === (named ?? bestArm)) ?? (named === undefined ? own[0] : undefined)
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
  // Without shared seeds any of the one is as good a partner as any other: what is paired are the tasks.
  const [left, right] = shared > 0 ? [a, b] : [inOrder(a, b), inOrder(b, a)]
  if (shared >= 2 || (a.tasks !== undefined && sharesTask(a, b))) {
    const random = keyedRandom(Number.parseInt(hashOf(names).slice(0, 8), 16), 'sign-flip')
    const evals = [...treatment.runs, ...baseline.runs].map(({ selected }) => selected)
    const options = { direction, minEffect: 0, confidence: CONFIDENCE, range: rangeOf(evals, metric), random }
    const { effect, interval, error } = comparePaired({ treatment: left, baseline: right, ...options })
    return {
      ...names,
      effect,
      interval: pairOf(interval),
      over: interval === null ? undefined : error?.over,
      shared_seeds: shared,
    }
  }
  const sign = direction === 'min' ? -1 : 1
  const values = ({ runs }: ScoredArm) => runs.map(({ selected }) => sign * (selected.metrics[metric] ?? 0))
  const { estimate, interval } = welchTInterval(values(treatment), values(baseline), CONFIDENCE)
  return {
    ...names,
    effect: estimate,
    interval: pairOf(interval),
    over: interval === null ? undefined : 'seeds',
    shared_seeds: 0,
  }
}

/** As many rows as both have, called by their place. */
function inOrder(own: ArmScores, other: ArmScores): ArmScores {
  const n = Math.min(own.seeds.length, other.seeds.length)
  return { ...own, seeds: own.seeds.slice(0, n).map((_, i) => i), cells_S_T: own.cells_S_T.slice(0, n) }
}

function sharesTask(a: ArmScores, b: ArmScores): boolean {
  const known = new Set(a.tasks)
  return b.tasks?.some((task) => known.has(task)) === true
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

// Scores by benchmark, metric and scorer: within such a group they may be compared.
interface ComparedArm {
  readonly experiment_id: string
  readonly arm: string
  readonly score: Score
}

/** Scores of one scorer: those that may be compared. */
interface ScoreGroup {
  readonly benchmark: string
  readonly metric: string
  readonly direction: Direction
  readonly scorer_hash: string
  /** Best first. */
  readonly arms: readonly ComparedArm[]
}

interface Weighed {
  readonly experiment: ExperimentRow
  /** Those that count. */
  readonly runs: readonly RecordedRun[]
  readonly arm: string | undefined
  readonly bestArm: string | null
}

interface ScoredArm extends ComparedArm {
  readonly runs: readonly ScoredRun[]
}

type ScoredGroup = ScoreGroup & { readonly scored: readonly ScoredArm[] }

function scoreGroups(weighed: readonly Weighed[]): ScoredGroup[] {
  const found = new Map<string, { benchmark: string; metric: string; hash: string; arms: Map<string, ScoredRun[]> }>()
  for (const { experiment, runs } of weighed) {
    for (const { name: benchmark, metrics } of experiment.plan.experiment.metadata.benchmark) {
      for (const recorded of lastStages(runs)) {
        const selected = selectedEval(recorded.run, recorded.evals, benchmark)
        for (const { name: metric } of metrics.map(metricSpec)) {
          if (selected?.metrics[metric] === undefined) continue
          const key = JSON.stringify([benchmark, metric, selected.scorerHash])
          const group = found.get(key) ?? { benchmark, metric, hash: selected.scorerHash, arms: new Map() }
          const arm = JSON.stringify([experiment.id, recorded.run.arm])
          group.arms.set(arm, [...(group.arms.get(arm) ?? []), { run: recorded.run, selected }])
          found.set(key, group)
        }
      }
    }
  }
  return [...found.values()].map(({ benchmark, metric, hash, arms }) => {
    const direction = directionOf(weighed, benchmark, metric)
    const sign = direction === 'min' ? 1 : -1
    const scored = [...arms.values()]
      .map((runs): ScoredArm => scoredArm(runs, metric))
      .sort((a, b) => sign * (a.score.mean - b.score.mean))
    const shown = scored.map(({ runs: _runs, ...arm }) => arm)
    return { benchmark, metric, direction, scorer_hash: hash, arms: shown, scored }
  })
}

// Of a chain of stages only the last one is the arm's result.
function lastStages(runs: readonly RecordedRun[]): RecordedRun[] {
  const last = new Map<string, number>()
  for (const { run } of runs) last.set(run.arm, Math.max(last.get(run.arm) ?? 0, run.stage ?? 0))
  return runs.filter(({ run }) => (run.stage ?? 0) === last.get(run.arm))
}

function scoredArm(runs: readonly ScoredRun[], metric: string): ScoredArm {
  return {
    experiment_id: runs[0]?.run.experimentId ?? '',
    arm: runs[0]?.run.arm ?? '',
    score: armScore(runs, metric, metricOf(metric)),
    runs,
  }
}

function directionOf(weighed: readonly Weighed[], benchmark: string, metric: string): Direction {
  const judged = weighed.flatMap(({ experiment: { plan } }) =>
    [plan.objective, plan.claim].flatMap((each) => each ?? []),
  )
  return judged.find((each) => each.benchmark === benchmark && each.metric === metric)?.direction ?? 'max'
}

// Where the configurations of runs differ, path by path.
interface ConfigDifference {
  readonly path: string
  /** In the order of the configurations; undefined where one has no such value. */
  readonly values: readonly unknown[]
}

/** Paths at which not all have the same value. Names, tags and seeds are not compared: those of runs always differ. */
function configDifferences(runs: readonly (RunRow | undefined)[]): ConfigDifference[] {
  const flat = runs.map((run) => (run === undefined ? new Map() : leavesOf(describedBy(run))))
  const paths = [...new Set(flat.flatMap((leaves) => [...leaves.keys()]))].sort()
  return paths.flatMap((path) => {
    const values = flat.map((leaves) => leaves.get(path))
    const texts = new Set(values.map((value) => (value === undefined ? '' : canonicalJson(value))))
    return texts.size > 1 ? [{ path, values }] : []
  })
}

function describedBy(run: RunRow): unknown {
  if (run.kind === 'candidate') return { candidate: run.candidate }
  if (run.kind === 'job') return { job: run.job }
  const { name: _name, tags: _tags, seed: _seed, ...config } = run.config
  return config
}

function leavesOf(described: unknown): Map<string, unknown> {
  const leaves = new Map<string, unknown>()
  const walk = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      leaves.set(path, value)
      return
    }
    for (const [key, child] of Object.entries(value)) {
      if (child !== undefined) walk(child, path === '' ? key : `${path}.${key}`)
    }
  }
  walk(described, '')
  return leaves
}
