// The benchmarks of an experiment: one scorer process each, which alone knows the expected answers, and the questions as files
// that workers may read.

import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import type {
  Benchmark,
  PluginCard,
  PluginSpec,
  Prediction,
  Scored,
  SealedBenchmark,
  SealedTask,
} from '../../contracts/index.ts'
import { type OpenScorer, openScorer, prompted, taskFoldersOf } from '../../evaluate/index.ts'
import {
  EvsysError,
  mapConcurrent,
  type PluginReference,
  type SecretSource,
  writeFileAtomic,
} from '../../kernel/index.ts'
import type { LoadedTask } from '../../rollout/index.ts'
import type { BenchmarkTrials } from '../trials/benchmark-trials.ts'
import { placeOfAgent, requireOwnAgent, requireTrialAgent, requireTrialEnvironment } from '../trials/trial-agents.ts'
import { openTrialScratch, trialsFolder } from '../trials/trial-scratch.ts'

export interface SealedBenchmarks extends AsyncDisposable {
  readonly sealed: readonly SealedBenchmark[]
  /** What is asked. */
  tasks(benchmark: string): readonly SealedTask[]
  hash(benchmark: string): string
  score(benchmark: string, predictions: readonly Prediction[]): Promise<Scored>
  /** Attempts the task folders of a benchmark, and scores what came of it. */
  attempt(benchmark: string, question: AttemptQuestion): Promise<{ scored: Scored; predictions: readonly Prediction[] }>
}

export interface AttemptQuestion
  extends Pick<BenchmarkTrials, 'policy' | 'lead' | 'kept' | 'seed' | 'step' | 'signal' | 'onAnswer'> {
  /** Of the run; that of the benchmark wins. */
  readonly agent?: PluginSpec | undefined
  /** Of the run; that of the benchmark wins. */
  readonly environment?: PluginSpec | undefined
  /** In place of that of the benchmark; empty: none. */
  readonly systemPrompt?: string | undefined
  /** Unique among the attempts that are under way. */
  readonly label: string
}

export async function openSealedBenchmarks(
  benchmarks: readonly Benchmark[],
  options: {
    outputDir: string
    projectDir: string
    plugins: readonly PluginReference[]
    /** What the plugins of the project are, where it is known; absent: each scorer looks at them itself. */
    cards?: readonly PluginCard[] | undefined
    hidden?: readonly string[] | undefined
    /** Of the models that judge. */
    secretSource?: Pick<SecretSource, 'get'> | undefined
    /** Agents of the runs, for benchmarks that name none. */
    agents?: readonly (PluginSpec | undefined)[] | undefined
    /** Environments of the runs, for benchmarks that name none. */
    environments?: readonly (PluginSpec | undefined)[] | undefined
    signal: AbortSignal
  },
): Promise<SealedBenchmarks> {
  const { outputDir, projectDir, plugins, cards, hidden = [], secretSource, signal } = options
  const { agents = [], environments = [] } = options
  const folders = new Map<string, { benchmark: Benchmark; tasks: readonly LoadedTask[] }>()
  const isProjects = (kind: string) =>
    cards?.some((card) => card.type === 'agent' && card.kind === kind && card.origin !== 'built-in') === true
  let scratch: string | undefined
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  const scorers = new Map<string, OpenScorer>()
  let sealed: readonly SealedBenchmark[] = []
  const close = async () => {
    // The run that wanted a trial may be gone; the trial has things to put away.
    closing.abort(new EvsysError('INTERRUPTED', 'the benchmarks were closed'))
    await Promise.allSettled(underWay)
    await Promise.all([...scorers.values()].map((scorer) => scorer[Symbol.asyncDispose]()))
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
  }
  try {
    await mkdir(join(outputDir, 'questions'), { recursive: true })
    const opening = { limit: availableParallelism(), signal }
    sealed = await mapConcurrent(benchmarks, opening, async (benchmark) => {
      const tasks = await taskFoldersOf(benchmark)
      if (tasks !== undefined) {
        const leaders = benchmark.agent === undefined ? agents : [benchmark.agent]
        for (const agent of leaders) requireTrialAgent(agent, benchmark.name)
        const places = benchmark.environment === undefined ? environments : [benchmark.environment]
        for (const environment of places) requireTrialEnvironment(environment, benchmark.name)
        folders.set(benchmark.name, { benchmark, tasks })
      }
      const scorer = await openScorer({
        benchmark,
        projectDir,
        plugins,
        hidden,
        signal,
        secretSource,
        catalog: cards === undefined ? undefined : { cards: () => [...cards] },
      })
      scorers.set(benchmark.name, scorer)
      const tasks_file = join(outputDir, 'questions', `${benchmark.name}.jsonl`)
      const lines = scorer.sealedTasks().map((task) => `${JSON.stringify(task)}\n`)
      await writeFileAtomic(tasks_file, lines.join(''))
      const { name, split, run_every, num_samples, max_tokens, temperature, n_concurrent, chat_template, agent } =
        benchmark
      return {
        name,
        split,
        run_every,
        num_samples,
        max_tokens,
        temperature,
        n_concurrent,
        chat_template,
        tasks_file,
        agent,
        in_folders: tasks === undefined ? undefined : (true as const),
      }
    })
  } catch (error) {
    await close()
    throw error
  }
  let opening: Promise<string> | undefined
  const ownScratch = async () => {
    opening ??= openTrialScratch(trialsFolder(projectDir), basename(outputDir))
    scratch = await opening
    return scratch
  }
  const scorerOf = (benchmark: string) => {
    const scorer = scorers.get(benchmark)
    if (scorer === undefined) throw new EvsysError('INTERNAL', `a run asked for the unknown benchmark "${benchmark}"`)
    return scorer
  }
  const attempt = async (name: string, asked: AttemptQuestion) => {
    const { agent: ofRun, environment, lead, systemPrompt, label, ...question } = asked
    const scorer = scorerOf(name)
    const found = folders.get(name)
    if (found === undefined) throw new EvsysError('INTERNAL', `benchmark "${name}" has no task folders`)
    const { benchmark, tasks } = found
    const { runBenchmarkTrials } = await import('../trials/benchmark-trials.ts') // with agents and environments
    const either = AbortSignal.any([question.signal, closing.signal])
    const named = benchmark.agent ?? ofRun
    const agent = lead === undefined ? requireOwnAgent(named, name) : requireTrialAgent(named, name)
    const { predictions, rewards } = await runBenchmarkTrials({
      ...question,
      tasks,
      agent,
      secretSource,
      signal: either,
      environment: requireTrialEnvironment(benchmark.environment ?? environment, name),
      benchmark: systemPrompt === undefined ? benchmark : prompted(benchmark, systemPrompt),
      ...(placeOfAgent(agent, isProjects) === 'worker' ? { lead } : {}),
      scratch: join(await ownScratch(), `${label}-${name}`),
    })
    return { scored: await scorer.score(predictions, either, rewards), predictions }
  }
  return {
    sealed,
    tasks: (benchmark) => scorerOf(benchmark).sealedTasks(),
    hash: (benchmark) => scorerOf(benchmark).hash,
    score: async (benchmark, predictions) => scorerOf(benchmark).score(predictions),
    async attempt(name, question) {
      const attempting = attempt(name, question)
      underWay.add(attempting)
      try {
        return await attempting
      } finally {
        underWay.delete(attempting)
      }
    },
    [Symbol.asyncDispose]: close,
  }
}
