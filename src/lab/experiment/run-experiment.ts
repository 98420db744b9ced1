// The life of an experiment: load, check, record, run, score, conclude. The one entry for the command line and for code.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type ConfigSource, checkDeep, loadExperiment, pluginReferences } from '../../config/index.ts'
import type { ExperimentResult, Item, Notice, Plan } from '../../contracts/index.ts'
import { type Clock, EvsysError, openCatalog, type PluginReference, systemClock } from '../../kernel/index.ts'
import { type ExperimentRow, type OpenStore, openStore, type RunRow } from '../../store/index.ts'
import { builtins } from '../builtins.ts'
import { createWorkerPool } from '../worker/worker-pool.ts'
import { type Begun, beginExperiment } from './begin-experiment.ts'
import { checkForecast, createBudgetKeeper } from './budget-keeper.ts'
import { concludeExperiment } from './conclude-experiment.ts'
import { holdLease } from './hold-lease.ts'
import { scheduleRuns } from './schedule-runs.ts'
import { openSealedBenchmarks } from './sealed-benchmarks.ts'
import { type SuperviseOptions, superviseRun, takeInLeftovers, tell } from './supervise-run.ts'
import { trialMark } from './trial.ts'

export interface RunExperimentOptions {
  /** Absent: the project that the file lies in. */
  readonly projectDir?: string
  readonly set?: readonly string[]
  readonly dry?: boolean
  readonly steps?: number
  /** Goes on with the newest unfinished experiment of the same configuration. */
  readonly resume?: boolean
  readonly maxConcurrent?: number
  readonly cwd?: string
  /** First abort: runs save and leave; the experiment can be resumed. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly onPlan?: (prepared: {
    plan: Plan
    notices: readonly Notice[]
    experimentId: string
    outputDir: string
    runs: readonly RunRow[]
  }) => void
  readonly onItem?: (row: RunRow, item: Item) => void
}

/** Runs an experiment to its conclusion. Wrong input throws before anything starts; a failed run does not throw. */
export async function runExperiment(
  source: string | ConfigSource,
  options: RunExperimentOptions = {},
): Promise<ExperimentResult> {
  const signal = options.signal ?? new AbortController().signal
  const clock = options.clock ?? systemClock
  const prepared = await prepare(typeof source === 'string' ? { file: source } : source, options, signal)
  checkForecast(prepared.plan)
  await using store = await openStore(join(prepared.projectDir, '.evsys', 'evsys.db'), { clock })
  const begun = await beginExperiment(store, prepared.plan, {
    resume: options.resume ?? false,
    projectDir: prepared.projectDir,
    clock,
    provenance: {
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      ...(options.dry === true ? trialMark : {}),
    },
  })
  const lost = new AbortController()
  await using _lease = await holdLease(store.leases, `experiment:${begun.experiment.id}`, lost)
  return await conduct({ store, prepared, begun, options, clock, signal: AbortSignal.any([signal, lost.signal]) })
}

interface Prepared {
  readonly plan: Plan
  readonly notices: readonly Notice[]
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
}

async function prepare(source: ConfigSource, options: RunExperimentOptions, signal: AbortSignal): Promise<Prepared> {
  const { set, dry, steps, cwd } = options
  const loaded = await loadExperiment(source, {
    signal,
    ...(set === undefined ? {} : { set }),
    ...(dry === undefined ? {} : { dry }),
    ...(steps === undefined ? {} : { steps }),
    ...(cwd === undefined ? {} : { cwd }),
  })
  const projectDir = options.projectDir ?? loaded.project
  const plugins = pluginReferences(loaded)
  await using catalog = await openCatalog({ builtins: await builtins(), projectDir, plugins, signal })
  const checked = await checkDeep(loaded, catalog, { signal })
  const problems = [...catalog.problems, ...checked.problems]
  if (problems.length > 0) throw EvsysError.many(problems)
  return {
    plan: checked.plan,
    notices: [...checked.plan.notices, ...catalog.notices, ...checked.notices],
    projectDir,
    plugins,
  }
}

interface Conducting {
  readonly store: OpenStore
  readonly prepared: Prepared
  readonly begun: Begun
  readonly options: RunExperimentOptions
  readonly clock: Clock
  readonly signal: AbortSignal
}

async function conduct({ store, prepared, begun, options, clock, signal }: Conducting): Promise<ExperimentResult> {
  const { experiment, outputDir } = begun
  const { projectDir, plugins } = prepared
  const started = clock.now()
  const over = new AbortController() // a budget is used up
  const stopping = AbortSignal.any([signal, over.signal])
  const budget = createBudgetKeeper(experiment.plan.experiment.budget, await spentBefore(store, experiment))
  const deadline = budget.wallMs === undefined ? undefined : setTimeout(() => over.abort(wallExceeded()), budget.wallMs)
  const onItem = (row: RunRow, item: Item) => {
    options.onItem?.(row, item)
    const exceeded =
      item.type === 'points' || !('run_id' in item) || 'experiment_id' in item ? undefined : budget.count(item)
    if (exceeded !== undefined) over.abort(exceeded)
  }
  const working = new AbortController()
  await using sealed = await openSealedBenchmarks(experiment.plan.experiment.metadata.benchmark, {
    outputDir,
    projectDir,
    plugins,
    signal: working.signal,
  })
  const limit = options.maxConcurrent ?? experiment.plan.experiment.max_concurrent_arms ?? availableParallelism()
  await using pool = createWorkerPool({ size: limit, projectDir })
  const supervised: SuperviseOptions = {
    store,
    experiment,
    outputDir,
    projectDir,
    plugins,
    benchmarks: sealed.sealed,
    pool,
    sealed,
    clock,
    stopping,
    signal: working.signal,
    onItem,
  }
  try {
    for (const row of await store.runs(experiment.id))
      if (row.status !== 'completed') await takeInLeftovers(row, supervised)
    const runs = await store.runs(experiment.id)
    options.onPlan?.({ plan: experiment.plan, notices: prepared.notices, experimentId: experiment.id, outputDir, runs })
    await scheduleRuns({
      runs,
      limit,
      signal: stopping,
      run: (row) => superviseRun(row, supervised),
      skip: (row, before) =>
        tell(store, supervised, row, {
          type: 'run.finished',
          status: 'cancelled',
          metrics: {},
          error: { code: 'BACKEND_FAILED', message: `${before.name}, whose weights it starts from, did not complete` },
        }),
    })
  } finally {
    clearTimeout(deadline)
    working.abort()
  }
  if (signal.aborted) {
    throw new EvsysError('INTERRUPTED', `experiment ${experiment.id} was interrupted; what is finished is kept`, {
      fix: 'go on with `evsys run FILE --resume`',
    })
  }
  if (over.signal.aborted) await stopUnfinished(store, supervised, over.signal.reason)
  return concludeExperiment(store, experiment, { outputDir, clock, wallS: (clock.now() - started) / 1000 })
}

async function stopUnfinished(store: OpenStore, options: SuperviseOptions, reason: unknown): Promise<void> {
  const error = EvsysError.is(reason)
    ? reason.toRecord()
    : { code: 'BUDGET_EXCEEDED' as const, message: String(reason) }
  for (const row of await store.runs(options.experiment.id)) {
    if (row.status === 'pending' || row.status === 'running') {
      await tell(store, options, row, { type: 'run.finished', status: 'stopped', metrics: {}, error })
    }
  }
}

async function spentBefore(store: OpenStore, experiment: ExperimentRow) {
  const runs = await store.runs(experiment.id)
  return {
    steps: 0,
    tokens: runs.reduce((sum, run) => sum + (run.tokens ?? 0), 0),
    usd: runs.reduce((sum, run) => sum + (run.costUsd ?? 0), 0),
  }
}

function wallExceeded(): EvsysError {
  return new EvsysError('BUDGET_EXCEEDED', 'budget.wall is used up', {
    fix: 'raise it and start again; what is finished is kept',
  })
}
