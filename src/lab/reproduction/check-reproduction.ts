// What a repetition of an experiment would share with it: code, data, scorers, engine and machine, each compared with the record.
import { type LoadedExperiment, pluginReferences } from '../../config/index.ts'
import type { RunRow } from '../../contracts/index.ts'
import { openScorer } from '../../evaluate/index.ts'
import { messageOf } from '../../kernel/index.ts'
import { type ExperimentRow, type OpenStore, requireTraining } from '../../store/index.ts'
import { sealBenchmarks } from '../experiment/benchmark-seal.ts'
import { callbacksOf } from '../experiment/check-experiment.ts'
import { recipeHashes } from '../workers/recipe-hashes.ts'

export interface ReproductionCheck {
  readonly part: 'code' | 'data' | 'scorer' | 'machine'
  /** Arm, benchmark or what of the machine. */
  readonly name: string
  readonly status: 'same' | 'differs' | 'unknown'
  readonly recorded?: string | undefined
  readonly now?: string | undefined
  readonly why?: string | undefined
}

/** Arms whose code and data are looked at; a sweep of hundreds has few recipes. */
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
  const hashes = await recipeHashes(
    ones.map(({ id, config }) => ({ key: id, config, callbacks })),
    { ...place, hidden },
  )
  for (const run of ones) {
    const now = hashes.find(({ key }) => key === run.id)
    const why = now === undefined ? 'a plugin ended the process that looked at it' : now.error?.message
    checks.push(compared('code', run.arm, run.codeHash, now?.code_hash, why))
    checks.push(compared('data', run.arm, run.dataHash, now?.data_hash, why))
  }
  const evals = (await Promise.all(runs.map((run) => store.evals(run.id)))).flat()
  for (const benchmark of experiment.plan.experiment.metadata.benchmark) {
    const scored = evals.find((each) => each.benchmark === benchmark.name && each.error === undefined)
    const recorded = scored?.scorerHash
    try {
      await using scorer = await openScorer({ benchmark, ...place })
      checks.push(compared('scorer', benchmark.name, recorded, scorer.hash))
    } catch (error) {
      signal.throwIfAborted()
      checks.push(compared('scorer', benchmark.name, recorded, undefined, messageOf(error)))
    }
  }
  return checks
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
