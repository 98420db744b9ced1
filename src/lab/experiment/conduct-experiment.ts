// An experiment in the record, from its first run to its conclusion: processes, budget, schedule, and how it stops.
import { availableParallelism } from 'node:os'
import type { ExperimentResult, Notice, PluginCard } from '../../contracts/index.ts'
import { type Clock, EvsysError, onAbort, type PluginReference, type SecretSource } from '../../kernel/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { type ExperimentHooks, openExperimentHooks } from '../callbacks/experiment-hooks.ts'
import { agentOf } from '../train/run-agent-spec.ts'
import type { SpareWorker } from '../worker/spare-worker.ts'
import { createWorkerPool } from '../worker/worker-pool.ts'
import type { BenchmarkSeal } from './benchmark-seal.ts'
import { createBudgetKeeper } from './budget-keeper.ts'
import { checkLeaks } from './check-leaks.ts'
import { concludeExperiment } from './conclude-experiment.ts'
import { countSpent, isOfRun } from './count-spent.ts'
import { recordLeaks } from './record-leaks.ts'
import { recordSpeeds } from './record-speeds.ts'
import type { RunExperimentOptions } from './run-experiment.ts'
import { scheduleRuns } from './schedule-runs.ts'
import { scoreBaselines } from './score-baselines.ts'
import { openSealedBenchmarks } from './sealed-benchmarks.ts'
import { type SuperviseOptions, superviseRun, takeInLeftovers, tell } from './supervise-run.ts'
import type { TrainingData } from './training-data.ts'

export interface Conducting {
  readonly store: OpenStore
  readonly experiment: ExperimentRow
  readonly lease: Lease
  /** Aborted: another process has the lease. */
  readonly lost: AbortSignal
  readonly outputDir: string
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Of the plugins of the project. */
  readonly cards: readonly PluginCard[]
  readonly notices: readonly Notice[]
  readonly secrets: SuperviseOptions['secrets']
  readonly trainingData: readonly TrainingData[]
  /** Started while the experiment was checked. */
  readonly spare: SpareWorker
  readonly seal: BenchmarkSeal
  /** Of models that judge, and of those that are scored for comparison. */
  readonly secretSource: SecretSource
  readonly options: RunExperimentOptions & { readonly clock: Clock; readonly signal: AbortSignal }
}

export async function conductExperiment(conducting: Conducting): Promise<ExperimentResult> {
  const { store, experiment, lease, lost, outputDir, projectDir, plugins, secrets, spare, seal, options } = conducting
  const { hidden } = seal
  const { secretSource } = conducting
  const { clock, signal } = options
  const { plan } = experiment
  const started = clock.now()
  const over = new AbortController() // a budget is used up
  const working = new AbortController() // aborted: whatever runs is killed
  const stopping = AbortSignal.any([signal, over.signal])
  const budget = createBudgetKeeper(plan.experiment.budget)
  await using hooks = openExperimentHooks({ store, experiment, lease, outputDir, projectDir, plugins, hidden, clock })
  await countSpent(store, experiment, budget)
  const deadline = budget.wallMs === undefined ? undefined : setTimeout(() => over.abort(wallExceeded()), budget.wallMs)
  const notLost = onAbort(lost, () => working.abort(lost.reason))
  try {
    await using sealed = await openSealedBenchmarks(plan.experiment.metadata.benchmark, {
      outputDir,
      projectDir,
      plugins,
      cards: conducting.cards,
      hidden,
      secretSource,
      agents: plan.runs.map(({ config }) => agentOf(config)),
      environments: plan.runs.map(({ config }) => config.environment),
      signal: working.signal,
    })
    const either = AbortSignal.any([working.signal, stopping])
    const checked = await checkLeaks({ ...conducting, benchmarks: sealed.sealed, signal: either }).catch(
      (error: unknown) => {
        if (working.signal.aborted || !stopping.aborted) throw error
        return { leaks: [], notices: [] } // what was to start is stopped below
      },
    )
    await recordLeaks(store, experiment.id, checked.leaks, { clock, lease })
    const onCost = (usd: number) => {
      const exceeded = budget.spend(usd)
      if (exceeded !== undefined) over.abort(exceeded)
    }
    const limit = options.maxConcurrent ?? plan.experiment.max_concurrent_arms ?? availableParallelism()
    await using pool = createWorkerPool({ size: limit, projectDir, spare, hidden, ...options.limits })
    const supervised: SuperviseOptions = {
      ...{ store, experiment, lease, outputDir, projectDir, plugins, secrets, pool, sealed, clock, stopping },
      benchmarks: sealed.sealed,
      signal: working.signal,
      onCost,
      onItem(row, item) {
        options.onItem?.(row, item)
        const exceeded = isOfRun(item) ? budget.count(item) : undefined
        if (exceeded !== undefined) over.abort(exceeded)
      },
    }
    try {
      await hooks.started()
      await runAll(
        { ...conducting, notices: [...conducting.notices, ...checked.notices] },
        supervised,
        hooks,
        limit,
        () => working.abort(),
      )
      if (!stopping.aborted) {
        await scoreBaselines({
          ...{
            store,
            experiment,
            lease,
            sealed,
            secretSource,
            clock,
            signal: either,
          },
          onCost,
        }).catch((error: unknown) => {
          if (!stopping.aborted) throw error // stopped in the middle: the model has no score, as the record says
        })
      }
    } finally {
      working.abort() // before the processes are closed: nobody waits for them any more
    }
    lost.throwIfAborted()
    if (signal.aborted) throw interrupted(experiment)
    if (over.signal.aborted) await stopUnfinished(supervised, over.signal.reason)
  } finally {
    clearTimeout(deadline)
    notLost()
  }
  await recordSpeeds(store, experiment.id, { clock, lease })
  const wallS = (clock.now() - started) / 1000
  const result = await concludeExperiment(store, experiment, { outputDir, clock, lease, wallS })
  await hooks.ended(result)
  return result
}

async function runAll(
  { store, experiment, outputDir, notices, options }: Conducting,
  supervised: SuperviseOptions,
  hooks: ExperimentHooks,
  limit: number,
  giveUp: () => void,
): Promise<void> {
  for (const row of await store.runs(experiment.id)) {
    if (row.status !== 'completed') await takeInLeftovers(row, supervised)
  }
  const runs = await store.runs(experiment.id)
  options.onPlan?.({ plan: experiment.plan, notices, experimentId: experiment.id, outputDir, runs })
  await scheduleRuns({
    runs,
    limit,
    signal: supervised.stopping,
    giveUp,
    async run(row) {
      await hooks.group(row.arm)
      return superviseRun(row, supervised)
    },
    skip: (row, before) =>
      tell(store, supervised, row, {
        type: 'run.finished',
        status: 'cancelled',
        metrics: {},
        error: { code: 'BACKEND_FAILED', message: `${before.name}, whose weights it needs, did not complete` },
      }),
  })
}

async function stopUnfinished(options: SuperviseOptions, reason: unknown): Promise<void> {
  const { store, experiment } = options
  const error = EvsysError.is(reason)
    ? reason.toRecord()
    : { code: 'BUDGET_EXCEEDED' as const, message: String(reason) }
  for (const row of await store.runs(experiment.id)) {
    if (row.status === 'pending' || row.status === 'running') {
      await tell(store, options, row, { type: 'run.finished', status: 'stopped', metrics: {}, error })
    }
  }
}

function interrupted({ id }: ExperimentRow): EvsysError {
  return new EvsysError('INTERRUPTED', `experiment ${id} was interrupted; what is finished is kept`, {
    fix: 'go on with `evsys run FILE --resume`',
  })
}

function wallExceeded(): EvsysError {
  return new EvsysError('BUDGET_EXCEEDED', 'budget.wall is used up', {
    fix: 'raise budget.wall and run the file again; what is finished stays in the record',
  })
}
