// A model on a benchmark, outside of any run: its answers through a client, scored by the sealed scorer, kept beside the record.

import { rm } from 'node:fs/promises'
import type { Benchmark, OpenInferenceClient, PluginSpec, Prediction, Scored } from '../../contracts/index.ts'
import { answerWithClient, type OpenScorer, openScorer, taskFoldersOf } from '../../evaluate/index.ts'
import { EvsysError, type PluginReference, type PluginServices, type SecretSource } from '../../kernel/index.ts'
import { meterUsage, openInferenceClient, type TotalUsage } from '../../models/index.ts'
import type { LoadedTask } from '../../rollout/index.ts'
import { builtinServices } from '../trials/builtin-services.ts'
import { requireOwnAgent, requireTrialEnvironment } from '../trials/trial-agents.ts'
import { openTrialScratch, trialsFolder } from '../trials/trial-scratch.ts'

interface EvaluateOptions {
  readonly benchmark: Benchmark
  /** Folder of the tasks; absent: what the benchmark itself names. */
  readonly folder?: string | undefined
  readonly client: PluginSpec
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly secretSource: Pick<SecretSource, 'get'>
  readonly seed?: number | undefined
  /** Where answers are kept with instruction, expected answer and reward. */
  readonly answersFile?: string | undefined
  readonly signal: AbortSignal
  onAnswer?: ((prediction: Prediction) => void) | undefined
}

interface Evaluated {
  readonly scored: Scored
  readonly predictions: readonly Prediction[]
  readonly usage: TotalUsage
}

/** Asks and scores. A model that cannot be reached at all is an error; single failures are part of the score. */
export async function evaluateModel(options: EvaluateOptions): Promise<Evaluated> {
  const { benchmark, folder, projectDir, plugins, secretSource, signal } = options
  await using scorer = await openScorer({ benchmark, projectDir, plugins, secretSource, signal, file: folder })
  const tasks = await taskFoldersOf({ ...benchmark, path: folder ?? benchmark.path })
  if (tasks !== undefined) return attemptAndScore(options, scorer, tasks)
  const { predictions, usage } = await answersOf(options, scorer.sealedTasks())
  const scored = await scorer.score(predictions, signal, undefined, options.answersFile)
  return { scored, predictions, usage }
}

/** Answers of a model behind a built-in client. Clients of a project are code of the project, which the controller never runs. */
export async function answersOf(
  {
    benchmark,
    client: spec,
    secretSource,
    seed = 42,
    signal,
    onAnswer,
  }: Omit<EvaluateOptions, 'projectDir' | 'plugins'>,
  tasks: Parameters<typeof answerWithClient>[0]['tasks'],
): Promise<{ predictions: Prediction[]; usage: TotalUsage }> {
  const led = benchmark.agent === undefined ? undefined : controllable(benchmark.agent)
  const { value: predictions, usage } = await withModel(
    { client: spec, secretSource, seed, signal },
    (client, services) =>
      answerWithClient({
        benchmark,
        tasks,
        client,
        seed,
        signal,
        withAgent: led === undefined ? undefined : { agent: led, services },
        onAnswer,
      }),
  )
  return { predictions, usage }
}

/** Does something with a model behind a built-in client, and returns what its answers used. */
export async function withModel<T>(
  {
    client: spec,
    secretSource,
    seed = 42,
    signal,
  }: Pick<EvaluateOptions, 'client' | 'secretSource' | 'seed' | 'signal'>,
  work: (client: OpenInferenceClient, services: PluginServices) => Promise<T>,
): Promise<{ value: T; usage: TotalUsage }> {
  const services: PluginServices = { ...(await builtinServices({ seed, secretSource })), signal }
  const opened = await openInferenceClient(spec, services)
  const { client, total } = meterUsage(opened)
  try {
    return { value: await work(client, services), usage: total() }
  } finally {
    await opened[Symbol.asyncDispose]?.()
  }
}

async function attemptAndScore(
  options: EvaluateOptions,
  scorer: OpenScorer,
  tasks: readonly LoadedTask[],
): Promise<Evaluated> {
  const { benchmark, projectDir, secretSource, seed = 42, signal, onAnswer } = options
  const { runBenchmarkTrials } = await import('../trials/benchmark-trials.ts')
  const agent = requireOwnAgent(benchmark.agent, benchmark.name)
  const environment = requireTrialEnvironment(benchmark.environment, benchmark.name)
  const scratch = await openTrialScratch(trialsFolder(projectDir), `eval-${crypto.randomUUID()}`)
  try {
    const { value, usage } = await withModel(options, (client) =>
      runBenchmarkTrials({
        benchmark,
        tasks,
        agent,
        environment,
        seed,
        signal,
        step: 'final',
        policy: () => client,
        scratch,
        secretSource,
        onAnswer,
      }),
    )
    const { predictions, rewards } = value
    return { scored: await scorer.score(predictions, signal, rewards, options.answersFile), predictions, usage }
  } finally {
    await rm(scratch, { recursive: true, force: true })
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
