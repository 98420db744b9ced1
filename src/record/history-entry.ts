// An experiment in a few lines of data: what is read first to plan the next one.
import { Evidence, type HistoryEntry, type RunStatus, type Verdict } from '../contracts/index.ts'
import { systemClock } from '../kernel/index.ts'
import type { ExperimentRow, OpenStore } from '../store/index.ts'
import { isDryRun } from './evidence/dry-run.ts'

/** The evidence that the record keeps of an experiment; undefined before its end. */
export function storedEvidence({ evidence }: Pick<ExperimentRow, 'evidence'>): Evidence | undefined {
  return evidence === undefined ? undefined : Evidence.safeParse(evidence).data // of another version: the words remain
}

export function historyEntry(experiment: ExperimentRow, status: ExperimentStatus): HistoryEntry {
  const { objective } = experiment
  const evidence = storedEvidence(experiment)
  const best = evidence?.arms.find(({ name }) => name === evidence.best_arm)
  return {
    experiment_id: experiment.id,
    name: experiment.name,
    created_at: experiment.createdAt,
    status: status === 'interrupted' ? status : experiment.status,
    hypothesis: experiment.hypothesis ?? null,
    verdict: experiment.verdict ?? null,
    objective:
      objective === undefined
        ? null
        : { metric: `${objective.benchmark}.${objective.metric}`, direction: objective.direction },
    best: best?.score == null || isDryRun(experiment) ? null : { arm: best.name, score: best.score },
    effect: effectOf(evidence),
    conclusion: experiment.conclusion ?? null,
    words: experiment.words,
    tags: experiment.tags,
    parent: experiment.parentId ?? null,
    cost_usd: experiment.costUsd ?? null,
  }
}

function effectOf(evidence: Evidence | undefined): HistoryEntry['effect'] {
  if (evidence?.claim == null) return null
  const { benchmark, metric, overall } = evidence.claim
  const { treatment, baseline, effect, interval, confidence, n_seeds, n_tasks } = overall
  return { benchmark, metric, treatment, baseline, effect, interval, confidence, n_seeds, n_tasks }
}

// Where an experiment stands, in one word. The record says "running" of one whose process was killed; the lease shows it.

/** `interrupted`: no process works on it, and it can be resumed. */
export type ExperimentStatus = Verdict | RunStatus | 'interrupted'

export async function experimentStatus(
  store: OpenStore,
  { id, verdict, status }: ExperimentRow,
): Promise<ExperimentStatus> {
  if (verdict !== undefined) return verdict
  if (status !== 'running' && status !== 'pending') return status
  const holder = await store.leases.holder(`experiment:${id}`)
  return holder !== undefined && holder.untilMs > systemClock.now() ? status : 'interrupted'
}
