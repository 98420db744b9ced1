// The second half of getting ready: a loaded experiment against every plugin, model and secret that it names.
import { checkDeep, type LoadedExperiment } from '../../config/index.ts'
import type { Plan } from '../../contracts/index.ts'
import {
  type Catalog,
  EvsysError,
  type PluginReference,
  type Problem,
  problemsOf,
  readSecretSource,
  type SecretSource,
} from '../../kernel/index.ts'
import { modelClient } from '../../models/index.ts'
import { runSecrets } from '../workers/run-secrets.ts'
import { type BenchmarkSeal, resolveBenchmarks } from './benchmark-seal.ts'
import { checkForecast } from './budget-keeper.ts'
import type { CheckedExperiment } from './experiment-session.ts'
import { callbacksOf, trainingDataOf } from './plan-inputs.ts'
import { namedModels } from './score-baselines.ts'

/** Throws all that is wrong at once; what comes back may start. */
export async function checkExperiment(
  loaded: LoadedExperiment,
  catalog: Catalog,
  options: { projectDir: string; plugins: readonly PluginReference[]; seal: BenchmarkSeal; signal: AbortSignal },
): Promise<CheckedExperiment> {
  const { projectDir, plugins, seal, signal } = options
  const checked = await checkDeep(loaded, catalog, { signal })
  const problems = [...catalog.problems, ...checked.problems, ...unknownModels(checked.plan)]
  if (problems.length > 0) throw EvsysError.many(problems)
  const secretSource = await readSecretSource({ projectDir })
  const prepared = {
    plan: await resolveBenchmarks(checked.plan, projectDir),
    notices: [...checked.plan.notices, ...catalog.notices, ...checked.notices, ...seal.notices],
    projectDir,
    plugins,
    cards: catalog.cards().filter(({ origin }) => origin !== 'built-in'),
    seal,
    secretSource,
    secrets: secretsOf(checked.plan, catalog, secretSource),
    trainingData: trainingDataOf(checked.plan, catalog),
  }
  checkForecast(prepared.plan)
  return prepared
}

function secretsOf(plan: Plan, catalog: Catalog, source: SecretSource): CheckedExperiment['secrets'] {
  const cardOf: Catalog['card'] = (type, kind) => catalog.card(type, kind)
  const agents = plan.experiment.metadata.benchmark.flatMap(({ agent }) => agent ?? [])
  const asked = { callbacks: callbacksOf(plan), agents, cardOf, source }
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
