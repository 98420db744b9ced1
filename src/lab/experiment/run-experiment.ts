// The life of an experiment: load, check, record, run, score, conclude. The one entry for the command line and for code.
import { type ConfigSource, checkDeep, loadExperiment, pluginReferences } from '../../config/index.ts'
import type { ExperimentResult, Item, Notice, Plan } from '../../contracts/index.ts'
import {
  type Catalog,
  type Clock,
  EvsysError,
  openCatalog,
  type PluginReference,
  type Problem,
  problemsOf,
  readSecretSource,
  type SecretSource,
  systemClock,
  whyNotHidden,
} from '../../kernel/index.ts'
import { modelClient } from '../../models/index.ts'
import type { RunRow } from '../../store/index.ts'
import { builtins } from '../builtins.ts'
import { type WorkerLimits, workerLimits } from '../worker/lost-run.ts'
import { runSecrets } from '../worker/run-secrets.ts'
import { createSpareWorker, type SpareWorker } from '../worker/spare-worker.ts'
import { callbacksOf, pluginFilesOf } from './assign-run.ts'
import { type BenchmarkSeal, type SealChoice, sealBenchmarks } from './benchmark-seal.ts'
import { checkForecast } from './budget-keeper.ts'
import { resolveBenchmarks } from './resolve-benchmarks.ts'
import { namedModels } from './score-baselines.ts'
import { type TrainingData, trainingDataOf } from './training-data.ts'

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
  /** Whether benchmarks must be hidden from recipe code; default `auto`: where the machine can do it. */
  readonly seal?: SealChoice
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
  readonly seal: BenchmarkSeal
  readonly secretSource: SecretSource
  /** What the plugins of a run declare, by the name of the run. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>
  /** What the runs train on, each data block once. */
  readonly trainingData: readonly TrainingData[]
}

async function prepare(
  source: ConfigSource,
  options: RunExperimentOptions,
  { signal, spare }: { signal: AbortSignal; spare: SpareWorker },
): Promise<Prepared> {
  const { set, dry, steps, cwd } = options
  whyNotHidden().catch(() => {}) // asked meanwhile; told when it is used
  const loaded = await loadExperiment(source, {
    signal,
    ...(set === undefined ? {} : { set }),
    ...(dry === undefined ? {} : { dry }),
    ...(steps === undefined ? {} : { steps }),
    ...(cwd === undefined ? {} : { cwd }),
  })
  const projectDir = options.projectDir ?? loaded.project
  const plugins = pluginReferences(loaded)
  const named = await resolveBenchmarks(loaded.plan, projectDir)
  const seal = await sealBenchmarks({
    benchmarks: named.experiment.metadata.benchmark,
    runs: loaded.plan.runs.map(({ config }) => config),
    projectDir,
    choice: options.seal ?? 'auto',
  })
  const { hidden } = seal
  // What is needed next starts up meanwhile. Nothing of it is a run yet.
  spare.start({ projectDir, limits: workerLimits(options.limits), hidden })
  // Where a plugin must be transpiled, one process does it and the other finds it done.
  const onPrepared = () => spare.load(pluginFilesOf(plugins))
  const opening = openCatalog({ builtins: builtins(), projectDir, plugins, hidden, signal, onPrepared })
  loadRunPrepared().catch(() => {}) // told when it is used
  await using catalog = await opening
  onPrepared()
  const checked = await checkDeep(loaded, catalog, { signal })
  const problems = [...catalog.problems, ...checked.problems, ...unknownModels(checked.plan)]
  if (problems.length > 0) throw EvsysError.many(problems)
  const secretSource = await readSecretSource({ projectDir })
  return {
    plan: await resolveBenchmarks(checked.plan, projectDir),
    notices: [...checked.plan.notices, ...catalog.notices, ...checked.notices, ...seal.notices],
    projectDir,
    plugins,
    seal,
    secretSource,
    secrets: secretsOf(checked.plan, catalog, secretSource),
    trainingData: trainingDataOf(checked.plan, catalog),
  }
}

function secretsOf(plan: Plan, catalog: Catalog, source: SecretSource): Prepared['secrets'] {
  const cardOf: Catalog['card'] = (type, kind) => catalog.card(type, kind)
  const asked = { callbacks: callbacksOf(plan), cardOf, source }
  return new Map(plan.runs.map(({ name, config }) => [name, runSecrets(config, asked)]))
}

// A model that nothing is known of is told before anything starts, not after hours of training.
function unknownModels({ experiment }: Plan): Problem[] {
  return experiment.metadata.benchmark.flatMap((benchmark) =>
    namedModels(benchmark).flatMap((model) => {
      try {
        modelClient(model)
        return []
      } catch (error) {
        return problemsOf(error).map((problem) => ({
          ...problem,
          message: `benchmark "${benchmark.name}": ${problem.message}`,
        }))
      }
    }),
  )
}
