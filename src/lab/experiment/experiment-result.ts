// An experiment as commands print it: the record's rows and its evidence in one document.
import type { BaselineScore, Evidence, ExperimentResult, Leak, RunTrip, UsedEngine } from '../../contracts/index.ts'
import type { ExperimentRow, RunRow } from '../../store/index.ts'
import { conclusionText } from './conclusion-text.ts'
import type { EngineSpeeds } from './record-speeds.ts'

/** What the record has besides runs and their evidence. */
export interface BesidesRuns {
  readonly baselines?: readonly BaselineScore[]
  readonly leaks?: readonly Leak[]
  readonly speeds?: EngineSpeeds
  readonly trips?: readonly RunTrip[]
}

export function experimentResult(
  experiment: ExperimentRow,
  runs: readonly RunRow[],
  evidence: Evidence,
  { baselines = [], leaks = [], speeds = new Map(), trips = [] }: BesidesRuns = {},
): ExperimentResult {
  const { plan } = experiment
  const costs = [...runs.flatMap((run) => run.costUsd ?? []), ...baselines.flatMap((each) => each.cost_usd ?? [])]
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
    ...(baselines.length === 0 ? {} : { baselines: [...baselines] }),
    conclusion:
      experiment.verdict === undefined
        ? null
        : { verdict: experiment.verdict, text: experiment.conclusion ?? conclusionText(evidence, { trips }) },
    ...(trips.length === 0 ? {} : { guards: [...trips] }),
    ...(leaks.length === 0 ? {} : { leaks: [...leaks] }),
    engines: usedEngines(runs, speeds),
    cost_usd: experiment.costUsd ?? (costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)),
    wall_s: experiment.wallS ?? runs.reduce((sum, run) => sum + (run.wallS ?? 0), 0),
  }
}

/** The engines of runs, in the order of their first use. */
function usedEngines(runs: readonly RunRow[], speeds: EngineSpeeds): UsedEngine[] {
  const counts = new Map<string, number>()
  for (const { engineId } of runs) if (engineId !== undefined) counts.set(engineId, (counts.get(engineId) ?? 0) + 1)
  return [...counts].map(([id, n_runs]) => {
    const gflops = speeds.get(id)
    return { id, threads: threadsOf(id), n_runs, ...(gflops === undefined ? {} : { gflops }) }
  })
}

// Engines of evsys tell their threads in their id, unless it is one; a service may be called anything.
function threadsOf(id: string): number | null {
  const found = /^(?:cpu-native|cpu-wasm|reference|mock)-[0-9a-f]{16}(?:-(\d+)-threads)?(?:-|$)/.exec(id)
  return found === null ? null : Number(found[1] ?? 1)
}
