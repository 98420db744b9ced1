// The evidence of an experiment and its result, as the record has them now.

import { guardedLoss } from '../../algorithms/index.ts'
import {
  type BaselineScore,
  type ClaimEvidence,
  type Direction,
  type Evidence,
  type ExperimentResult,
  type JudgeAgreement,
  type Leak,
  RecipeCode,
  type RunFailures,
  type RunSummary,
  type RunTrip,
  trainingScores,
  type UsedEngine,
} from '../../contracts/index.ts'
import { evaluatePlugins } from '../../evaluate/index.ts'
import { createRegistry } from '../../kernel/index.ts'
import type { EvalRow, ExperimentRow, OpenStore, RunRow } from '../../store/index.ts'
import { armScores, type TaskMetric } from './arm-scores.ts'
import { withBenchmarkScores } from './benchmark-scores.ts'
import { mixOf } from './class-mix.ts'
import { conclusionText } from './conclusion-text.ts'
import { isDryRun } from './dry-run.ts'
import {
  baselinesOf,
  type EngineSpeeds,
  recordedFailures,
  recordedJudges,
  recordedLeaks,
  recordedNotices,
  recordedSpeeds,
  recordedTrips,
} from './recorded-events.ts'
import { reportDetails } from './report-details.ts'
import { type FilePlaces, placesOf, runSummaries } from './run-summaries.ts'
import { type RecordedRun, scoredRuns, weighEvidence } from './weigh-evidence.ts'

/** Weighs what the record holds of an experiment. `projectDir`: where answers lie, whose classes show a mix that is another. */
export async function evidenceOf(
  store: OpenStore,
  experiment: ExperimentRow,
  projectDir?: string,
): Promise<{ evidence: Evidence; runs: RecordedRun[] }> {
  const rows = await store.runs(experiment.id)
  const { objective, experiment: written } = experiment.plan
  const judges = [objective, ...(experiment.plan.claims ?? [experiment.plan.claim])].some(
    (each) => each?.benchmark === trainingScores,
  )
  const isTraining = judges && written.metadata.benchmark.length === 0
  const runs = await Promise.all(
    rows.map(async (run) => {
      const evals = await store.evals(run.id)
      return { run, evals: isTraining ? [...evals, trainingEval(run)] : evals }
    }),
  )
  const { claim: _claim, claims: _claims, ...unclaimed } = experiment.plan
  const plan = isDryRun(experiment) ? unclaimed : experiment.plan
  const evidence = withBenchmarkScores(weighEvidence({ plan, runs, metricOf }), plan, runs, metricOf)
  return {
    evidence: projectDir === undefined ? evidence : await withMixes(store, evidence, plan, runs, projectDir),
    runs,
  }
}

/** Claims between benchmarks say how much of the difference is that the mix of classes is another. */
async function withMixes(
  store: OpenStore,
  evidence: Evidence,
  plan: ExperimentRow['plan'],
  runs: readonly RecordedRun[],
  projectDir: string,
): Promise<Evidence> {
  const written = plan.claims ?? [plan.claim]
  const completed = runs.filter(({ run }) => run.invalid === undefined && run.status === 'completed')
  const mixed = async (claim: ClaimEvidence | null, i: number): Promise<ClaimEvidence | null> => {
    const resolved = written[i]
    const [pair] = resolved?.pairs ?? []
    if (claim === null || pair === undefined || resolved?.baseline_benchmark === undefined) return claim
    const { metric, direction, benchmark, baseline_benchmark } = resolved
    const first = scoredRuns(completed, pair.baseline, baseline_benchmark, metric)
    const second = scoredRuns(completed, pair.treatment, benchmark, metric)
    const own = metricOf(metric)
    const scores = [armScores(first, metric, own), armScores(second, metric, own)] as const
    const found = await mixOf(store, { runs: [first, second], scores, metric, direction, projectDir })
    return { ...claim, ...found }
  }
  const claims = evidence.claims && (await Promise.all(evidence.claims.map(mixed)))
  const claim = claims === undefined ? await mixed(evidence.claim, 0) : (claims[0] ?? null)
  return { ...evidence, claim, claims }
}

// Where no benchmark is declared, the last training metrics of a run are what it is judged by.
// `loss` is the one per token, where the recipe gives it no name of its own.
function trainingEval({ metrics: given }: RunRow): EvalRow {
  const loss = guardedLoss(given)
  const metrics = loss === undefined ? given : { loss, ...given }
  return { benchmark: trainingScores, split: 'val', metrics, nTasks: 0, nInfraFailed: 0, scorerHash: '' }
}

/** The result of an experiment as the record has it now. `projectDir`: where its files are looked for. */
export async function resultOf(
  store: OpenStore,
  experiment: ExperimentRow,
  projectDir?: string,
): Promise<ExperimentResult> {
  const { evidence, runs } = await evidenceOf(store, experiment, projectDir)
  const places = projectDir === undefined ? undefined : await placesOf(experiment, projectDir)
  const besides = await besidesRuns(store, experiment.id, runs, places)
  return experimentResult(experiment, runs, evidence, {
    ...besides,
    details: await reportDetails(store, runs, evidence, projectDir),
  })
}

/** What the record has besides runs and their evidence. */
export async function besidesRuns(
  store: OpenStore,
  experimentId: string,
  runs: readonly RecordedRun[],
  places?: FilePlaces,
): Promise<BesidesRuns> {
  const rows = runs.map(({ run }) => run)
  return {
    baselines: await baselinesOf(store, experimentId),
    leaks: await recordedLeaks(store, experimentId),
    speeds: await recordedSpeeds(store, experimentId),
    trips: await recordedTrips(store, rows),
    failures: await recordedFailures(store, rows),
    judges: await recordedJudges(
      store,
      rows.map(({ id }) => id),
    ),
    notices: await recordedNotices(store, experimentId, rows),
    summaries: await runSummaries(store, runs, places),
    files: places?.files,
  }
}

/** A built-in metric, to be computed task by task. Those of a project live in the scorer and are not called here. */
export function metricOf(kind: string): TaskMetric | undefined {
  const registry = createRegistry()
  for (const plugin of evaluatePlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const found = registry.find('metric', kind)
  if (found === undefined || found.plugin.type !== 'metric') return undefined
  const { plugin } = found
  return { params: plugin.params.parse(found.params), compute: plugin.compute.bind(plugin) }
}

// An experiment as commands print it: the record's rows and its evidence in one document.

interface BesidesRuns {
  readonly baselines?: readonly BaselineScore[] | undefined
  readonly leaks?: readonly Leak[] | undefined
  readonly speeds?: EngineSpeeds | undefined
  readonly trips?: readonly RunTrip[] | undefined
  readonly failures?: readonly RunFailures[] | undefined
  readonly judges?: readonly JudgeAgreement[] | undefined
  readonly notices?: readonly string[] | undefined
  readonly summaries?: readonly RunSummary[] | undefined
  readonly files?: string | null | undefined
  readonly details?: Awaited<ReturnType<typeof reportDetails>> | undefined
}

/** What its author wrote about it. */
export function aboutOf({
  experiment,
}: ExperimentRow['plan']): Pick<ExperimentResult, 'description' | 'notes' | 'project_goal_id' | 'benchmarks'> {
  const { notes, project_goal_id, benchmark } = experiment.metadata
  const tagged = benchmark.filter(({ tags }) => tags.length > 0).map(({ name, tags }) => ({ name, tags }))
  const description = experiment.description === '' ? undefined : experiment.description
  return { description, notes, project_goal_id, benchmarks: unlessEmpty(tagged) }
}

export function armTags({ runs }: ExperimentRow['plan'], arm: string): string[] | undefined {
  const run = runs.find((each) => each.arm === arm)
  return run !== undefined && 'config' in run ? unlessEmpty(run.config.tags) : undefined
}

export function experimentResult(
  experiment: ExperimentRow,
  recorded: readonly RecordedRun[],
  evidence: Evidence,
  {
    baselines = [],
    leaks = [],
    speeds = new Map(),
    trips = [],
    failures = [],
    judges = [],
    notices = [],
    summaries = [],
    files,
    details,
  }: BesidesRuns = {},
): ExperimentResult {
  const { plan } = experiment
  const runs = recorded.map(({ run }) => run)
  const costs = [...runs.flatMap((run) => run.costUsd ?? []), ...baselines.flatMap((each) => each.cost_usd ?? [])]
  return {
    experiment_id: experiment.id,
    name: experiment.name,
    status: experiment.status,
    created_at: experiment.createdAt,
    hypothesis: experiment.hypothesis ?? null,
    ...aboutOf(plan),
    objective: shownObjective(evidence.objective),
    best_arm: evidence.best_arm,
    arms: evidence.arms.map(({ name, status, score, scores, error }) => {
      const { params = {}, seeds = [] } = plan.arms.find((each) => each.name === name) ?? {}
      return { name, status, params, seeds, tags: armTags(plan, name), score, scores, error }
    }),
    runs: [...summaries],
    tables: unlessEmpty(details?.tables ?? []),
    mistakes: unlessEmpty(details?.mistakes ?? []),
    curves: unlessEmpty(details?.curves ?? []),
    baselines: unlessEmpty(baselines),
    conclusion:
      experiment.verdict === undefined
        ? null
        : {
            verdict: experiment.verdict,
            text:
              experiment.conclusion ??
              conclusionText(evidence, { trips, failures, judges, leaks, stopped: stoppedRuns(runs) }),
          },
    claim: evidence.claim,
    claims: evidence.claims,
    words: experiment.words,
    tags: experiment.tags,
    parent: experiment.parentId ?? null,
    notices: [...notices],
    failures: unlessEmpty(failures),
    judges: unlessEmpty(judges),
    guards: unlessEmpty(trips),
    leaks: unlessEmpty(leaks),
    recipe_code: RecipeCode.safeParse(experiment.provenance).data,
    engines: usedEngines(runs, speeds),
    files,
    cost_usd: experiment.costUsd ?? (costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)),
    wall_s: experiment.wallS ?? runs.reduce((sum, run) => sum + (run.wallS ?? 0), 0),
  }
}

/** Runs that ended because a budget was used up. */
export function stoppedRuns(runs: readonly RunRow[]): { n: number; message: string } | undefined {
  const own = runs.flatMap(({ error }) => (error?.code === 'BUDGET_EXCEEDED' ? [error] : []))
  const [first] = own
  return first && { n: own.length, message: first.message }
}

/** An objective as documents show it. */
export function shownObjective(
  objective: { benchmark: string; metric: string; direction: Direction } | null | undefined,
): { metric: string; direction: Direction } | null {
  if (objective == null) return null
  return { metric: `${objective.benchmark}.${objective.metric}`, direction: objective.direction }
}

function unlessEmpty<T>(items: readonly T[]): T[] | undefined {
  return items.length === 0 ? undefined : [...items]
}

/** The engines of runs, in the order of their first use. */
function usedEngines(runs: readonly RunRow[], speeds: EngineSpeeds): UsedEngine[] {
  const counts = new Map<string, number>()
  for (const { engineId } of runs) if (engineId !== undefined) counts.set(engineId, (counts.get(engineId) ?? 0) + 1)
  return [...counts].map(([id, n_runs]) => ({ id, threads: threadsOf(id), n_runs, gflops: speeds.get(id) }))
}

// Engines of evsys name their threads in their id, unless it is one; a service may be called anything.
function threadsOf(id: string): number | null {
  const found = /^(?:cpu-native|cpu-wasm|reference|mock)-[0-9a-f]{16}(?:-(\d+)-threads)?(?:-|$)/.exec(id)
  return found === null ? null : Number(found[1] ?? 1)
}
