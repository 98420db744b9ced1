// The life of an experiment: load, check, record, run, score, conclude. The one entry for the command line and for code.
import { relative, resolve } from 'node:path'
import { earlyStart } from '../../backends/index.ts'
import { type ConfigSource, loadExperiment, pluginReferences } from '../../config/index.ts'
import type { ExperimentResult, Item, Notice, Plan, PluginCard } from '../../contracts/index.ts'
import {
  type Clock,
  openCatalog,
  type PluginReference,
  type SecretSource,
  systemClock,
  whyNotHidden,
} from '../../kernel/index.ts'
import type { RunRow } from '../../store/index.ts'
import { builtins } from '../builtins.ts'
import { type WorkerLimits, workerLimits } from '../worker/lost-run.ts'
import { createSpareWorker, type SpareWorker } from '../worker/spare-worker.ts'
import { pluginFilesOf } from './assign-run.ts'
import { type BenchmarkSeal, type SealChoice, sealBenchmarks } from './benchmark-seal.ts'
import { resolveBenchmarks } from './resolve-benchmarks.ts'
import type { TrainingData } from './training-data.ts'

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
  const { runPrepared } = await loadRunPrepared()
  return await runPrepared(prepared, { ...options, clock, signal, spare })
}

// The record, statistics and the pool of workers: a third of the code of evsys.
function loadRunPrepared(): Promise<typeof import('./run-prepared.ts')> {
  return import('./run-prepared.ts')
}

function loadCheck(): Promise<typeof import('./check-experiment.ts')> {
  return import('./check-experiment.ts')
}

/** An experiment that was checked and may start. */
export interface Prepared {
  readonly plan: Plan
  /** The experiment file, seen from the project; absent: the experiment came as data. */
  readonly file?: string
  readonly notices: readonly Notice[]
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Of the plugins of the project. */
  readonly cards: readonly PluginCard[]
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
  // What is needed next starts up meanwhile: a worker and, within it, a trainer. Nothing of it is a run yet.
  const [first] = loaded.plan.runs
  const early = first === undefined ? undefined : earlyStart(first.config)
  const limits = workerLimits(options.limits)
  spare.start({ projectDir, limits, hidden, ...(early === undefined ? {} : { early }) })
  // Where a plugin must be transpiled, one process does it and the other finds it done.
  const onPrepared = () => spare.load(pluginFilesOf(plugins))
  const opening = openCatalog({ builtins: builtins(), projectDir, plugins, hidden, signal, onPrepared })
  loadRunPrepared().catch(() => {}) // told when it is used
  const loading = loadCheck()
  loading.catch(() => {}) // told below
  await using catalog = await opening
  onPrepared()
  const { checkExperiment } = await loading
  const checked = await checkExperiment(loaded, catalog, { projectDir, plugins, seal, signal })
  const file = 'file' in source ? relative(projectDir, resolve(cwd ?? process.cwd(), source.file)) : undefined
  return { ...checked, ...(file === undefined ? {} : { file }) }
}
