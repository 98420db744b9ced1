// The life of an experiment: load, check, record, run, score, conclude. The one entry for the command line and for code.
import { type ConfigSource, checkDeep, loadExperiment, pluginReferences } from '../../config/index.ts'
import type { ExperimentResult, Item, Notice, Plan } from '../../contracts/index.ts'
import {
  type Catalog,
  type Clock,
  EvsysError,
  openCatalog,
  type PluginReference,
  readSecretSource,
  systemClock,
} from '../../kernel/index.ts'
import type { RunRow } from '../../store/index.ts'
import { builtins } from '../builtins.ts'
import { type WorkerLimits, workerLimits } from '../worker/lost-run.ts'
import { runSecrets } from '../worker/run-secrets.ts'
import { createSpareWorker, type SpareWorker } from '../worker/spare-worker.ts'
import { callbacksOf, pluginFilesOf } from './assign-run.ts'
import { checkForecast } from './budget-keeper.ts'

export interface RunExperimentOptions {
  /** Absent: the project that the file lies in. */
  readonly projectDir?: string
  readonly set?: readonly string[]
  readonly dry?: boolean
  readonly steps?: number
  /** Goes on with the newest unfinished experiment of the same configuration. */
  readonly resume?: boolean
  readonly maxConcurrent?: number
  /** Bounds on the process of a run: memory, silence, output. */
  readonly limits?: Partial<WorkerLimits>
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
  await using spare = createSpareWorker()
  const prepared = await prepare(typeof source === 'string' ? { file: source } : source, options, { signal, spare })
  checkForecast(prepared.plan)
  const { runPrepared } = await loadRunPrepared()
  return await runPrepared(prepared, { ...options, clock, signal, spare })
}

// The record, statistics and the pool of workers: a third of the code of evsys.
function loadRunPrepared(): Promise<typeof import('./run-prepared.ts')> {
  return import('./run-prepared.ts')
}

/** An experiment that was checked and may start. */
export interface Prepared {
  readonly plan: Plan
  readonly notices: readonly Notice[]
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** What the plugins of a run declare, by the name of the run. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>
}

async function prepare(
  source: ConfigSource,
  options: RunExperimentOptions,
  { signal, spare }: { signal: AbortSignal; spare: SpareWorker },
): Promise<Prepared> {
  const { set, dry, steps, cwd } = options
  const limits = workerLimits(options.limits)
  // What is needed next starts up meanwhile. Nothing of it is a run yet.
  if (options.projectDir !== undefined) spare.start({ projectDir: options.projectDir, limits })
  const loaded = await loadExperiment(source, {
    signal,
    ...(set === undefined ? {} : { set }),
    ...(dry === undefined ? {} : { dry }),
    ...(steps === undefined ? {} : { steps }),
    ...(cwd === undefined ? {} : { cwd }),
  })
  const projectDir = options.projectDir ?? loaded.project
  const plugins = pluginReferences(loaded)
  spare.start({ projectDir, limits })
  // Where a plugin must be transpiled, one process does it and the other finds it done.
  const onPrepared = () => spare.load(pluginFilesOf(plugins))
  const opening = openCatalog({ builtins: builtins(), projectDir, plugins, signal, onPrepared })
  loadRunPrepared().catch(() => {}) // told when it is used
  await using catalog = await opening
  onPrepared()
  const checked = await checkDeep(loaded, catalog, { signal })
  const problems = [...catalog.problems, ...checked.problems]
  if (problems.length > 0) throw EvsysError.many(problems)
  return {
    plan: checked.plan,
    notices: [...checked.plan.notices, ...catalog.notices, ...checked.notices, ...unscored(checked.plan)],
    projectDir,
    plugins,
    secrets: await secretsOf(checked.plan, catalog, projectDir),
  }
}

async function secretsOf(plan: Plan, catalog: Catalog, projectDir: string): Promise<Prepared['secrets']> {
  const source = await readSecretSource({ projectDir })
  const cardOf: Catalog['card'] = (type, kind) => catalog.card(type, kind)
  const asked = { callbacks: callbacksOf(plan), cardOf, source }
  return new Map(plan.runs.map(({ name, config }) => [name, runSecrets(config, asked)]))
}

// Promised by the file, and not kept: said before anything starts.
function unscored({ experiment }: Plan): Notice[] {
  return experiment.metadata.benchmark.flatMap(({ name, models }) =>
    models.length === 0
      ? []
      : [{ text: `${models.join(', ')} will not be scored on ${name}: this version of evsys asks no API models.` }],
  )
}
