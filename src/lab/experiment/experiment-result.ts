// An experiment as commands print it: the record's rows and its evidence in one document.
import type { Evidence, ExperimentResult } from '../../contracts/index.ts'
import type { ExperimentRow, RunRow } from '../../store/index.ts'
import { conclusionText } from './conclusion-text.ts'

export function experimentResult(
  experiment: ExperimentRow,
  runs: readonly RunRow[],
  evidence: Evidence,
): ExperimentResult {
  const { plan } = experiment
  const costs = runs.flatMap((run) => run.costUsd ?? [])
  return {
    experiment_id: experiment.id,
    name: experiment.name,
    status: experiment.status,
    objective:
      evidence.objective === null
        ? null
        : {
            metric: `${evidence.objective.benchmark}.${evidence.objective.metric}`,
            direction: evidence.objective.direction,
          },
    best_arm: evidence.best_arm,
    arms: evidence.arms.map((arm) => ({
      name: arm.name,
      status: arm.status,
      params: plan.arms.find((each) => each.name === arm.name)?.params ?? {},
      seeds: plan.arms.find((each) => each.name === arm.name)?.seeds ?? [],
      score: arm.score,
      ...(arm.error === undefined ? {} : { error: arm.error }),
    })),
    conclusion:
      experiment.verdict === undefined
        ? null
        : { verdict: experiment.verdict, text: experiment.conclusion ?? conclusionText(evidence) },
    cost_usd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    wall_s: experiment.wallS ?? runs.reduce((sum, run) => sum + (run.wallS ?? 0), 0),
  }
}
