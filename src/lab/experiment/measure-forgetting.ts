// What a chain of datasets kept and lost. Every stage is scored on every benchmark; what was lost of one is its best score after
// an earlier stage less its score after the last (Chaudhry et al. 2018).
import type { Direction, Forgetting, Plan } from '../../contracts/index.ts'
import { selectedEval } from './selected-eval.ts'
import type { RecordedRun } from './weigh-evidence.ts'

/** Undefined where there is no chain of datasets with a score. */
export function measureForgetting(plan: Plan, completed: readonly RecordedRun[]): Forgetting | undefined {
  const { experiment, objective } = plan
  if (experiment.continual === undefined) return undefined
  const benchmarks = experiment.metadata.benchmark.flatMap(({ name, metrics }) => {
    const isObjectives = objective !== undefined && metrics.includes(objective.metric)
    const metric = isObjectives ? objective.metric : metrics[0]
    const direction: Direction = isObjectives ? objective.direction : 'max'
    return metric === undefined ? [] : [{ name, metric, direction }]
  })
  const scoresOf = (arm: string) => ({
    arm,
    scores: benchmarks.map(({ name, metric }) => meanScore(completed, arm, name, metric)),
  })
  const staged = new Set(plan.runs.flatMap(({ arm, stage }) => (stage === undefined ? [] : [arm])))
  const stages = [...staged].map(scoresOf)
  const mixed = plan.arms.find(({ name, params }) => params.mix === true && !staged.has(name))
  if (benchmarks.length === 0 || stages.length < 2) return undefined
  const lost = benchmarks.map(({ direction }, i) =>
    lossOf(
      stages.map(({ scores }) => scores[i] ?? null),
      direction,
    ),
  )
  return { benchmarks, stages, mix: mixed === undefined ? null : scoresOf(mixed.name), lost }
}

function meanScore(runs: readonly RecordedRun[], arm: string, benchmark: string, metric: string): number | null {
  const values = runs.flatMap(({ run, evals }) =>
    run.arm === arm ? (selectedEval(run, evals, benchmark)?.metrics[metric] ?? []) : [],
  )
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

function lossOf(scores: readonly (number | null)[], direction: Direction): number | null {
  const sign = direction === 'min' ? -1 : 1
  const earlier = scores.slice(0, -1).flatMap((score) => (score === null ? [] : [sign * score]))
  const last = scores.at(-1) ?? null
  return earlier.length === 0 || last === null ? null : Math.max(...earlier) - sign * last
}
