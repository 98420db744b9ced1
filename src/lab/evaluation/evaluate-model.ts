// A model on a benchmark, outside of any run: its answers through a client, scored by the sealed scorer, kept beside the record.
import type { Benchmark, PluginSpec, Prediction, Scored, SeedPath } from '../../contracts/index.ts'
import { answerWithClient, openScorer } from '../../evaluate/index.ts'
import { createRegistry, EvsysError, keyedRandom, type PluginReference, type SecretSource } from '../../kernel/index.ts'
import { meterUsage, openInferenceClient, type TotalUsage } from '../../models/index.ts'
import { builtins } from '../builtins.ts'

export interface EvaluateOptions {
  readonly benchmark: Benchmark
  /** Folder of the tasks; absent: what the benchmark itself names. */
  readonly folder?: string
  readonly client: PluginSpec
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly secretSource: Pick<SecretSource, 'get'>
  readonly seed?: number
  readonly signal: AbortSignal
  onAnswer?(prediction: Prediction): void
}

export interface Evaluated {
  readonly scored: Scored
  readonly predictions: readonly Prediction[]
  readonly usage: TotalUsage
}

/** Asks and scores. A model that cannot be reached at all is an error; single failures are part of the score. */
export async function evaluateModel(options: EvaluateOptions): Promise<Evaluated> {
  const { benchmark, folder, projectDir, plugins, secretSource, signal } = options
  await using scorer = await openScorer({
    ...{ benchmark, projectDir, plugins, secretSource, signal },
    ...(folder === undefined ? {} : { file: folder }),
  })
  const { predictions, usage } = await answersOf(options, scorer.sealedTasks())
  return { scored: await scorer.score(predictions), predictions, usage }
}

/** Answers of a model behind a built-in client. Clients of a project are code of the project, which the controller never runs. */
export async function answersOf(
  {
    benchmark,
    folder,
    client: spec,
    secretSource,
    seed = 42,
    signal,
    onAnswer,
  }: Omit<EvaluateOptions, 'projectDir' | 'plugins'>,
  tasks: Parameters<typeof answerWithClient>[0]['tasks'],
): Promise<{ predictions: Prediction[]; usage: TotalUsage }> {
  await refuseFolders(benchmark, folder)
  const registry = createRegistry()
  for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const led = benchmark.agent === undefined ? undefined : controllable(benchmark.agent)
  const services = {
    registry,
    signal,
    random: (...path: SeedPath) => keyedRandom(seed, ...path),
    log: () => {},
    secret(name: string) {
      const value = secretSource.get(name)
      if (value !== undefined && value.trim() !== '') return value
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`, {
        fix: `set ${name} in the environment or in the project’s .env.`,
      })
    },
  }
  const opened = await openInferenceClient(spec, services)
  const { client, total } = meterUsage(opened)
  try {
    const predictions = await answerWithClient({
      ...{ benchmark, tasks, client, seed, signal },
      led: led === undefined ? undefined : { agent: led, services },
      ...(onAnswer === undefined ? {} : { onAnswer }),
    })
    return { predictions, usage: total() }
  } finally {
    await opened[Symbol.asyncDispose]?.()
  }
}

/** Agents that bring files of the project are code of the project. */
function controllable(agent: PluginSpec): PluginSpec {
  const { tools = [], user } = agent.params
  const files = [...(Array.isArray(tools) ? tools : []), user].filter((each) => typeof each === 'string')
  if (files.length === 0) return agent
  throw new EvsysError('CONFIG_INVALID', `the agent "${agent.kind}" brings files of the project: ${files.join(', ')}`, {
    fix: 'a model behind an API is asked here, where no code of the project runs; compare arms of an experiment instead.',
  })
}

async function refuseFolders(
  { name, path, data }: Benchmark,
  folder = data === undefined ? path : undefined,
): Promise<void> {
  const { holdsTaskFolders } = await import('../../rollout/index.ts')
  if (folder === undefined || !(await holdsTaskFolders(folder))) return
  throw new EvsysError(
    'CONFIG_INVALID',
    `benchmark "${name}" is made of task folders: they are attempted, not answered`,
    {
      fix: 'evsys benchmark run --path FOLDER --model NAME --agent shell_loop',
    },
  )
}
