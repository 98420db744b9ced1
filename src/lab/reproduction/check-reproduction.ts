// A repetition of an experiment: its file, from the recorded plan, and what it would share with the record: code, data, scorers,
// engine and machine.
import { rm } from 'node:fs/promises'
import { builtins } from '../../builtins/index.ts'
import { type LoadedExperiment, loadExperiment, pluginReferences } from '../../config/index.ts'
import type { RecordedPlan, RunConfig, RunRow, SealedBenchmark } from '../../contracts/index.ts'
import { openScorer } from '../../evaluate/index.ts'
import {
  canonicalJson,
  EvsysError,
  messageOf,
  openCatalog,
  type PluginReference,
  temporaryFolder,
} from '../../kernel/index.ts'
import { cacheFolder } from '../../models/index.ts'
import { findProcessLevel, pluginPlace } from '../../sandbox/index.ts'
import { type ExperimentRow, type OpenStore, requireTraining } from '../../store/index.ts'
import { sealBenchmarks } from '../experiment/benchmark-seal.ts'
import { callbacksOf } from '../experiment/check-experiment.ts'
import { dropping } from '../experiment/experiment-session.ts'
import { placeBenchmark } from '../experiment/sealed-benchmarks.ts'
import { shutInWorkers } from '../experiment/shut-in.ts'
import { recipeHashes } from '../workers/recipe-hashes.ts'
import type { WorkerSandbox } from '../workers/worker-sandbox.ts'

export interface ReproductionCheck {
  readonly part: 'code' | 'data' | 'scorer' | 'machine'
  /** Arm, benchmark or what of the machine. */
  readonly name: string
  readonly status: 'same' | 'differs' | 'unknown'
  readonly recorded?: string | undefined
  readonly now?: string | undefined
  readonly why?: string | undefined
}

/** Arms whose code and data are checked; a sweep of hundreds has few recipes. */
const MOST_ARMS = 20

export async function checkReproduction(
  store: OpenStore,
  experiment: ExperimentRow,
  { loaded, projectDir, signal }: { loaded: LoadedExperiment; projectDir: string; signal: AbortSignal },
): Promise<ReproductionCheck[]> {
  const runs = await store.runs(experiment.id)
  const plugins = pluginReferences(loaded)
  const place = { projectDir, plugins, signal }
  const checks: ReproductionCheck[] = [...machineChecks(experiment)]
  const ones = onePerArm(runs).slice(0, MOST_ARMS).map(requireTraining)
  const callbacks = callbacksOf(experiment.plan)
  const { hidden } = await sealBenchmarks({
    benchmarks: experiment.plan.experiment.metadata.benchmark,
    runs: ones.map(({ config }) => config),
    projectDir: place.projectDir,
    choice: 'auto',
  })
  const sandbox = await sandboxFor(loaded, { ...place, hidden })
  const questions = temporaryFolder('repro')
  try {
    const scorers = await checkScorers(experiment, runs, { ...place, store, questions })
    const hashes = await recipeHashes(
      ones.map(({ id, config }) => ({ key: id, config, callbacks, benchmarks: scorers.dropping })),
      { ...place, hidden, sandbox },
    )
    for (const run of ones) {
      const now = hashes.find(({ key }) => key === run.id)
      const why = now === undefined ? 'a plugin ended the process that loaded it' : now.error?.message
      checks.push(compared('code', run.arm, run.codeHash, now?.code_hash, why))
      const isUnknown = scorers.unknown !== undefined // rows that repeat its questions cannot be left out
      checks.push(
        compared('data', run.arm, run.dataHash, isUnknown ? undefined : now?.data_hash, scorers.unknown ?? why),
      )
    }
    return [...checks, ...scorers.checks]
  } finally {
    await rm(questions, { recursive: true, force: true })
  }
}

/** How the code of the project is shut in while its hashes are made; undefined: nothing shuts it in here. */
async function sandboxFor(
  { plan }: LoadedExperiment,
  given: { projectDir: string; plugins: readonly PluginReference[]; hidden: readonly string[]; signal: AbortSignal },
): Promise<WorkerSandbox | undefined> {
  const found = await findProcessLevel('auto', { keptIn: cacheFolder() })
  const place = async () => pluginPlace(found.level, given)
  await using catalog = await openCatalog({ builtins: builtins(), ...given, place })
  const held = await shutInWorkers(plan, { choice: 'auto', found, cards: catalog.cards(), ...given, isCheck: true })
  return held.sandbox
}

/** Scorers of today, and the benchmarks whose questions are left out of training rows. */
async function checkScorers(
  { plan }: ExperimentRow,
  runs: readonly RunRow[],
  { store, questions, ...place }: Place & { store: OpenStore; questions: string },
) {
  const checks: ReproductionCheck[] = []
  const sealed: SealedBenchmark[] = []
  const dropped = dropping(plan)
  /** Why questions that are left out are not known. */
  let unknown: string | undefined
  const evals = (await Promise.all(runs.map((run) => store.evals(run.id)))).flat()
  for (const benchmark of plan.experiment.metadata.benchmark) {
    const { name } = benchmark
    const isDropping = dropped.includes(name)
    const recorded = evals.find((each) => each.benchmark === name && each.error === undefined)?.scorerHash
    try {
      await using scorer = await openScorer({ benchmark, ...place })
      checks.push(compared('scorer', name, recorded, scorer.hash))
      if (isDropping) sealed.push(await placeBenchmark({ benchmark, scorer }, { isDropping, outputDir: questions }))
    } catch (error) {
      place.signal.throwIfAborted()
      checks.push(compared('scorer', name, recorded, undefined, messageOf(error)))
      if (isDropping) unknown ??= messageOf(error)
    }
  }
  return { checks, dropping: sealed, unknown }
}

interface Place {
  readonly projectDir: string
  readonly plugins: ReturnType<typeof pluginReferences>
  readonly signal: AbortSignal
}

function compared(
  part: ReproductionCheck['part'],
  name: string,
  recorded: string | undefined,
  now: string | undefined,
  why?: string,
): ReproductionCheck {
  if (recorded === undefined) return { part, name, status: 'unknown', now, why: 'the record has no hash of it' }
  if (now === undefined) return { part, name, status: 'unknown', recorded, why }
  return { part, name, status: recorded === now ? 'same' : 'differs', recorded, now }
}

// Runs of an arm differ in their seed alone; a stage of a chain has its own recipe.
function onePerArm(runs: readonly RunRow[]): RunRow[] {
  const seen = new Set<string>()
  return runs.filter(({ arm, stage }) => {
    const key = JSON.stringify([arm, stage])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function machineChecks({ provenance }: ExperimentRow): ReproductionCheck[] {
  const here: Record<string, string> = { node: process.version, platform: `${process.platform}-${process.arch}` }
  return Object.entries(Object(provenance)).flatMap(([name, recorded]) => {
    const now = here[name]
    return now === undefined || typeof recorded !== 'string' ? [] : [compared('machine', name, recorded, now)]
  })
}

/** A recorded plan as an experiment file again, checked: loading `value` gives the same configuration and the same claim. */
export async function planDocument(
  plan: RecordedPlan,
  { projectDir, signal }: { projectDir: string; signal: AbortSignal },
): Promise<{ value: Readonly<Record<string, unknown>>; loaded: LoadedExperiment }> {
  const { runs, ...shell } = plan.experiment
  // Claims over several cells pair arms by their axes, so the axes are tried too; names of arms may come from a template.
  const forms = [
    { ...shell, runs },
    { ...shell, ...matrixOf(plan, runs) },
  ]
  let problem: unknown
  for (const form of forms) {
    try {
      const value: Record<string, unknown> = JSON.parse(JSON.stringify(form)) // without what is absent
      const loaded = await loadExperiment({ value }, { cwd: projectDir, signal })
      const isSame = loaded.plan.config_hash === plan.config_hash
      if (isSame && canonicalJson(loaded.plan.claim ?? null) === canonicalJson(plan.claim ?? null)) {
        return { value, loaded }
      }
    } catch (error) {
      signal.throwIfAborted()
      problem ??= error
    }
  }
  throw new EvsysError('CONFIG_CONFLICT', 'the recorded plan cannot be written as a file of this version of evsys', {
    cause: problem,
    fix: 'run the original experiment file again; `evsys show ID --json` holds what was recorded.',
  })
}

function matrixOf({ arms, experiment }: RecordedPlan, [first]: readonly RunConfig[]): Record<string, unknown> {
  const axes: Record<string, unknown[]> = {}
  for (const { params } of arms) {
    for (const [path, value] of Object.entries(params)) {
      const values = axes[path] ?? []
      if (!values.some((each) => canonicalJson(each) === canonicalJson(value))) values.push(value)
      axes[path] = values
    }
  }
  const name = first?.name.split('__')[0] ?? experiment.name
  return { matrix: { axes, base_run: { ...first, name } } }
}
