// An experiment in a few lines of data: what somebody who plans the next one reads first.
import { Evidence, type HistoryEntry } from '../../contracts/index.ts'
import type { ExperimentRow } from '../../store/index.ts'
import { isTrial } from '../experiment/trial.ts'

/** The evidence that the record keeps of an experiment; undefined before its end. */
export function storedEvidence({ evidence }: Pick<ExperimentRow, 'evidence'>): Evidence | undefined {
  return evidence === undefined ? undefined : Evidence.safeParse(evidence).data // of another version: the words remain
}

export function historyEntry(experiment: ExperimentRow): HistoryEntry {
  const { objective } = experiment
  const evidence = storedEvidence(experiment)
  const best = evidence?.arms.find(({ name }) => name === evidence.best_arm)
  return {
    experiment_id: experiment.id,
    name: experiment.name,
    created_at: experiment.createdAt,
    hypothesis: experiment.hypothesis ?? null,
    verdict: experiment.verdict ?? null,
    objective:
      objective === undefined
        ? null
        : { metric: `${objective.benchmark}.${objective.metric}`, direction: objective.direction },
    best: best?.score == null || isTrial(experiment) ? null : { arm: best.name, score: best.score },
    conclusion: experiment.conclusion ?? null,
    cost_usd: experiment.costUsd ?? null,
  }
}
