// Scores by benchmark, metric and scorer: within such a group they may be compared.
import type { Direction, Score } from '../../contracts/index.ts'
import type { ExperimentRow } from '../../store/index.ts'
import type { ScoredRun } from '../experiment/arm-scores.ts'
import { seedScore } from '../experiment/seed-score.ts'
import { selectedEval } from '../experiment/selected-eval.ts'
import type { RecordedRun } from '../experiment/weigh-evidence.ts'

export interface ComparedArm {
  readonly experiment_id: string
  readonly arm: string
  readonly score: Score
}

/** Scores of one scorer: those that may be compared. */
export interface ScoreGroup {
  readonly benchmark: string
  readonly metric: string
  readonly direction: Direction
  readonly scorer_hash: string
  /** Best first. */
  readonly arms: readonly ComparedArm[]
}

export interface Weighed {
  readonly experiment: ExperimentRow
  /** Those that count. */
  readonly runs: readonly RecordedRun[]
  readonly bestArm: string | null
}

export interface ScoredArm extends ComparedArm {
  readonly runs: readonly ScoredRun[]
}

export type ScoredGroup = ScoreGroup & { readonly scored: readonly ScoredArm[] }

export function scoreGroups(weighed: readonly Weighed[]): ScoredGroup[] {
  const found = new Map<string, { benchmark: string; metric: string; hash: string; arms: Map<string, ScoredRun[]> }>()
  for (const { experiment, runs } of weighed) {
    for (const { name: benchmark, metrics } of experiment.plan.experiment.metadata.benchmark) {
      for (const recorded of lastStages(runs)) {
        const selected = selectedEval(recorded.run, recorded.evals, benchmark)
        for (const metric of metrics) {
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
    score: seedScore(
      runs.map(({ selected }) => ({ value: selected.metrics[metric] ?? 0, selected })),
      metric,
    ),
    runs,
  }
}

function directionOf(weighed: readonly Weighed[], benchmark: string, metric: string): Direction {
  const judged = weighed.flatMap(({ experiment: { plan } }) =>
    [plan.objective, plan.claim].flatMap((each) => each ?? []),
  )
  return judged.find((each) => each.benchmark === benchmark && each.metric === metric)?.direction ?? 'max'
}
