// What a run would find out about data before it begins, for `validate --deep`: stored datasets whose bytes changed, and training rows
// that repeat questions. Nothing is recorded.
import type { Leak, Notice, Plan } from '../../contracts/index.ts'
import {
  type Catalog,
  EvsysError,
  type PluginReference,
  type Problem,
  problemsOf,
  type SecretSource,
} from '../../kernel/index.ts'
import { resolveBenchmarks, sealBenchmarks } from './benchmark-seal.ts'
import { storedProblems, trainingDataOf } from './check-experiment.ts'
import { checkLeaks } from './check-leaks.ts'
import { openBenchmarks } from './experiment-session.ts'

interface CheckDataOptions {
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly secretSource: SecretSource
  readonly signal: AbortSignal
}

interface CheckedData {
  readonly problems: readonly Problem[]
  readonly notices: readonly Notice[]
  /** Those that the experiment allows or drops. */
  readonly leaks: readonly Leak[]
}

/** Checks the data of a plan that is valid otherwise. */
export async function checkData(written: Plan, catalog: Catalog, options: CheckDataOptions): Promise<CheckedData> {
  const { projectDir, plugins, secretSource, signal } = options
  const problems = await storedProblems(written, projectDir)
  if (problems.length > 0) return { problems, notices: [], leaks: [] }
  try {
    const plan = await resolveBenchmarks(written, projectDir)
    const benchmarks = plan.experiment.metadata.benchmark
    const trainingData = trainingDataOf(plan, catalog)
    if (benchmarks.length === 0 || trainingData.length === 0) return { problems, notices: [], leaks: [] }
    const runs = plan.runs.map(({ config }) => config)
    const seal = await sealBenchmarks({ benchmarks, runs, projectDir, choice: 'auto' })
    const cards = catalog.cards().filter(({ origin }) => origin !== 'built-in')
    await using sealed = await openBenchmarks({ plan, projectDir, plugins, cards, seal, secretSource }, signal)
    const tasks = (benchmark: string) => sealed.tasks(benchmark)
    const { leaks } = plan.experiment
    const found = await checkLeaks({ benchmarks, leaks, tasks, trainingData, projectDir, plugins, seal, signal })
    return { problems, ...found }
  } catch (error) {
    if (signal.aborted) throw error
    // A secret may be set where the experiment runs, as the check of secrets says.
    const isSecret = EvsysError.is(error) && error.code === 'SECRET_MISSING'
    const text = 'training rows could not be compared with the benchmarks: a secret is not set.'
    return isSecret
      ? { problems, notices: [{ text }], leaks: [] }
      : { problems: problemsOf(error), notices: [], leaks: [] }
  }
}
