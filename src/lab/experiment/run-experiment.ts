// The life of an experiment: load, check, record, run, score, conclude. The one entry for the command line and for code.
import { rm, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { loadTrainerSpare } from '../../backends/index.ts'
import { builtins } from '../../builtins/index.ts'
import {
  type ConfigSource,
  checkDraft,
  type ExperimentDraft,
  type FindWeights,
  type LoadedExperiment,
  loadExperiment,
  pluginReferences,
} from '../../config/index.ts'
import type { ExperimentResult, Leak, Notice, Plan } from '../../contracts/index.ts'
import {
  type Catalog,
  openCatalog,
  type SecretSource,
  systemClock,
  temporaryFolder,
  whyNotHidden,
} from '../../kernel/index.ts'
import { cacheFolder } from '../../models/index.ts'
import { type FoundLevel, findProcessLevel, pluginPlace } from '../../sandbox/index.ts'
import { workerLimits } from '../workers/worker-limits.ts'
import { createSpareWorker, type SpareWorker } from '../workers/worker-pool.ts'
import { pluginFilesOf } from '../workers/worker-process.ts'
import { type BenchmarkSeal, resolveBenchmarks, type SealChoice, sealBenchmarks } from './benchmark-seal.ts'
import type { CheckedExperiment } from './check-experiment.ts'
import type { RunExperimentOptions } from './experiment-session.ts'
import { openness, shutInWorkers } from './shut-in.ts'

/** Runs an experiment to its conclusion. Wrong input throws before anything starts; a failed run does not throw. */
export async function runExperiment(
  source: string | ConfigSource,
  options: RunExperimentOptions = {},
): Promise<ExperimentResult> {
  const signal = options.signal ?? new AbortController().signal
  const clock = options.clock ?? systemClock
  await using spare = createSpareWorker()
  const checked = await prepare(typeof source === 'string' ? { file: source } : source, options, { signal, spare })
  const { conductExperiment } = await loadConduct()
  return await conductExperiment(checked, { ...options, clock, signal, spare })
}

/**
 * All that is checked before the first run of an experiment, with the catalog of its plugins: models, secrets, the budget, tasks,
 * verifiers and metrics of its benchmarks, leaks, and every training row. Throws what `runExperiment` would throw; nothing is recorded.
 */
export async function checkRunnable(
  loaded: LoadedExperiment,
  catalog: Catalog,
  { projectDir, secretSource, signal }: { projectDir: string; secretSource: SecretSource; signal: AbortSignal },
): Promise<{ plan: Plan; notices: readonly Notice[]; leaks: readonly Leak[] }> {
  const plugins = pluginReferences(loaded)
  // A check makes no project of a folder that is none.
  const isProject = await stat(join(projectDir, '.evsys')).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const seal = await sealOf(loaded, projectDir, isProject ? 'auto' : 'off')
  const { checkExperiment } = await loadCheck()
  const options = { projectDir, plugins, seal: { ...seal, notices: [] }, secretSource, signal }
  const checked = await checkExperiment(loaded, catalog, options)
  const { openChecked } = await loadSession()
  const found = await findProcessLevel('auto', { keptIn: cacheFolder() })
  const { hidden } = seal
  const cards = catalog.cards()
  const held = await shutInWorkers(checked.plan, {
    choice: 'auto',
    found,
    cards,
    projectDir,
    plugins,
    hidden,
    isCheck: true,
  })
  const scratch = isProject ? undefined : temporaryFolder('check')
  try {
    const { sealed, leaks: found } = await openChecked(
      { ...checked, shutIn: held },
      { everyRow: true, cachedIn: scratch },
      signal,
    )
    await sealed[Symbol.asyncDispose]()
    return { plan: checked.plan, notices: [...checked.notices, ...found.notices], leaks: found.leaks }
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
  }
}

/**
 * Names of the runs that a run of the file would take from the record now, by the comparison that it makes itself: code, data, engine and
 * scorers, plugins and predecessors. Nothing is recorded or trained.
 */
export async function runsInRecord(
  source: ConfigSource,
  options: Pick<RunExperimentOptions, 'cwd' | 'set' | 'onNotice'> & { projectDir: string; signal: AbortSignal },
): Promise<string[]> {
  const { cwd, set, projectDir, signal, onNotice } = options
  const { recordedWeights } = await loadWeights()
  const findWeights: FindWeights = (name, kind, _project, base) =>
    recordedWeights(name, kind, { projectDir, base, signal })
  const loaded = await loadExperiment(source, { cwd, set, signal, findWeights, refuseUnused: true })
  const plugins = pluginReferences(loaded)
  const [seal, { checkExperiment }, { openChecked }] = await Promise.all([
    sealOf(loaded, projectDir, 'auto'),
    loadCheck(),
    loadSession(),
  ])
  const found = await findProcessLevel('auto', { keptIn: cacheFolder() })
  const of = { projectDir, plugins, hidden: seal.hidden }
  const place = async () => pluginPlace(found.level, of)
  await using catalog = await openCatalog({ builtins: builtins(), ...of, place, signal })
  const checked = await checkExperiment(loaded, catalog, { projectDir, plugins, seal, signal })
  const shutting = { choice: 'auto', found, cards: catalog.cards(), ...of, isCheck: true } as const
  const { sandbox } = await shutInWorkers(checked.plan, shutting)
  await using store = await openRecord(projectDir, signal)
  const { sealed } = await openChecked(checked, {}, signal)
  const scratch = temporaryFolder('reusable')
  try {
    await sealed.place(scratch) // rows that repeat its questions may be left out
    const { runsToTake } = await loadReuse()
    const { plan, cards } = checked
    const benchmarks = sealed.sealed
    const asked = {
      store,
      plan,
      runs: plan.runs,
      projectDir,
      plugins,
      seal,
      sealed,
      benchmarks,
      cards,
      sandbox,
      signal,
      onNotice,
    }
    return [...(await runsToTake(asked)).keys()]
  } finally {
    await sealed[Symbol.asyncDispose]()
    await rm(scratch, { recursive: true, force: true })
  }
}

async function sealOf(
  { plan }: LoadedExperiment,
  projectDir: string,
  choice: SealChoice,
  sandbox?: FoundLevel,
): Promise<BenchmarkSeal> {
  const named = await resolveBenchmarks(plan, projectDir)
  const runs = plan.runs.map(({ config }) => config)
  return sealBenchmarks({ benchmarks: named.experiment.metadata.benchmark, runs, projectDir, choice, sandbox })
}

// The record, statistics and the pool of workers: a third of the code of evsys.
function loadConduct(): Promise<typeof import('./conduct-experiment.ts')> {
  return import('./conduct-experiment.ts')
}

function loadReuse(): Promise<typeof import('./reuse-runs.ts')> {
  return import('./reuse-runs.ts')
}

async function openRecord(projectDir: string, signal: AbortSignal) {
  const { openStore } = await import('../../store/index.ts')
  return await openStore(join(projectDir, '.evsys', 'evsys.db'), { clock: systemClock, signal })
}

function loadSession(): Promise<typeof import('./experiment-session.ts')> {
  return import('./experiment-session.ts')
}

// Apart: the compiler leaves the extension of an import as it is beside an `await using`.
function loadCheck(): Promise<typeof import('./check-experiment.ts')> {
  return import('./check-experiment.ts')
}

function loadWeights(): Promise<typeof import('../evaluation/target-client.ts')> {
  return import('../evaluation/target-client.ts')
}

async function prepare(
  source: ConfigSource,
  options: RunExperimentOptions,
  { signal, spare }: { signal: AbortSignal; spare: SpareWorker },
  tryAnew = false,
): Promise<CheckedExperiment> {
  const { set, dry, steps, cwd } = options
  whyNotHidden().catch(() => {}) // asked meanwhile; thrown when it is used
  const finding = findProcessLevel(options.sandbox, { keptIn: tryAnew ? undefined : cacheFolder() })
  finding.catch(() => {}) // thrown below
  const furtherProblems = async (draft: ExperimentDraft) => {
    const at = { projectDir: options.projectDir ?? draft.project, plugins: pluginReferences(draft) }
    const place = async () => pluginPlace((await finding).level, at)
    await using catalog = await openCatalog({ builtins: builtins(), ...at, place, signal })
    return [...catalog.problems, ...(await checkDraft(draft, catalog, { signal })).problems]
  }
  const findWeights: FindWeights = async (name, kind, project, base) => {
    const { recordedWeights } = await loadWeights()
    return await recordedWeights(name, kind, { projectDir: options.projectDir ?? project, base, signal })
  }
  const asked = { signal, set, dry, steps, cwd, refuseUnused: true, findWeights, furtherProblems }
  const loaded = await loadExperiment(source, asked)
  const projectDir = options.projectDir ?? loaded.project
  const plugins = pluginReferences(loaded)
  const found = await finding
  const seal = await sealOf(loaded, projectDir, options.seal ?? 'auto', found)
  const { hidden } = seal
  const { plan } = loaded
  const shutting = {
    choice: options.sandbox ?? 'auto',
    found,
    projectDir,
    plugins,
    hidden,
    isRequired: options.seal === 'required',
  }
  // As far as it is known before plugins are loaded, which takes as long as starting a worker: they are asked below.
  const guess = await shutInWorkers(plan, { ...shutting, cards: undefined })
  // What is needed next starts up meanwhile: a worker and, within it, a trainer. Nothing of it is a run yet.
  const [first] = loaded.plan.runs
  const early = first === undefined ? undefined : (await loadTrainerSpare()).trainerSpare(first.config)
  const limits = workerLimits(options.limits)
  // No code of the project is loaded where nothing shuts it in, before it is known that it must be.
  if (guess.isReady && guess.level === found.level)
    spare.start({ projectDir, limits, hidden, sandbox: guess.sandbox, early })
  // Where a plugin must be transpiled, one process does it and the other finds it done.
  const onPrepared = () => spare.load(pluginFilesOf(plugins))
  const place = async () => pluginPlace(found.level, { projectDir, plugins, hidden })
  const opening = openCatalog({ builtins: builtins(), projectDir, plugins, hidden, place, signal, onPrepared })
  loadConduct().catch(() => {}) // thrown when it is used
  const loading = loadCheck()
  loading.catch(() => {}) // thrown below
  await using catalog = await opening
  onPrepared()
  if (found.isKept === true && spare.isGone()) {
    await spare.drop() // what worked at an earlier start does not work any more
    return await prepare(source, options, { signal, spare }, true)
  }
  const { checkExperiment } = await loading
  const checked = await checkExperiment(loaded, catalog, { projectDir, plugins, seal, signal })
  const file = 'file' in source ? relative(projectDir, resolve(cwd ?? process.cwd(), source.file)) : undefined
  const held = await shutInWorkers(checked.plan, { ...shutting, cards: catalog.cards() })
  if (held.level !== guess.level || held.sandbox?.network !== guess.sandbox?.network) await spare.drop()
  const notices = [...checked.notices, ...openness(held)]
  return { ...checked, notices, file, shutIn: held }
}
