// The benchmarks of an experiment: one scorer process each, which alone knows the expected answers. Workers may read questions only
// where rows that repeat them are left out.
import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
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

interface SealedOptions {
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Of the plugins of the project. */
  readonly cards: readonly PluginCard[]
  readonly hidden: readonly string[]
  /** Of the models that judge. */
  readonly secretSource: Pick<SecretSource, 'get'>
  /** Agents and environments of the runs, for benchmarks that name none. */
  readonly agents: readonly (PluginSpec | undefined)[]
  readonly environments: readonly (PluginSpec | undefined)[]
  /** Benchmarks whose questions are left out of training rows. */
  readonly dropping?: readonly string[] | undefined
  readonly signal: AbortSignal
}

interface AttemptQuestion
  extends Pick<
    BenchmarkTrials,
    'policy' | 'takesTools' | 'runAgent' | 'kept' | 'seed' | 'step' | 'signal' | 'onAnswer'
  > {
  /** Of the run; those of the benchmark win. */
  readonly agent?: PluginSpec | undefined
  readonly environment?: PluginSpec | undefined
  /** In place of that of the benchmark; empty: none. */
  readonly systemPrompt?: string | undefined
  /** Unique among the attempts that are under way. */
  readonly label: string
  readonly answersFile?: string | undefined
}

interface Opened {
  readonly benchmark: Benchmark
  readonly scorer: OpenScorer
  /** Absent: its tasks are rows. */
  readonly folders?: readonly LoadedTask[] | undefined
}

export class SealedBenchmarks implements AsyncDisposable {
  /** What workers may know of them, once their questions have a place. */
  sealed: readonly SealedBenchmark[] = []
  readonly #options: SealedOptions
  #names: readonly string[] = []
  #outputDir: string | undefined
  readonly #opened = new Map<string, Opened>()
  readonly #closing = new AbortController()
  readonly #underWay = new Set<Promise<unknown>>()
  #scratch: Promise<string> | undefined

  private constructor(options: SealedOptions) {
    this.#options = options
  }

  static async open(benchmarks: readonly Benchmark[], options: SealedOptions): Promise<SealedBenchmarks> {
    const opened = new SealedBenchmarks(options)
    try {
      const pace = { limit: availableParallelism(), signal: options.signal }
      opened.#names = benchmarks.map(({ name }) => name)
      await mapConcurrent(benchmarks, pace, (benchmark) => opened.#open(benchmark))
      return opened
    } catch (error) {
      await opened[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Writes the questions as files of the experiment: what was opened before there was one belongs to it from now on. */
  async place(outputDir: string): Promise<void> {
    this.#outputDir = outputDir
    const place = (name: string) =>
      placeBenchmark(this.#find(name), { isDropping: this.#options.dropping?.includes(name) === true, outputDir })
    this.sealed = await Promise.all(this.#names.map(place))
  }

  /** What is asked. */
  tasks(benchmark: string): readonly SealedTask[] {
    return this.#find(benchmark).scorer.sealedTasks()
  }

  hash(benchmark: string): string {
    return this.#find(benchmark).scorer.hash
  }

  async score(
    benchmark: string,
    predictions: readonly Prediction[],
    { answersFile, signal }: { answersFile?: string | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<Scored> {
    return this.#find(benchmark).scorer.score(predictions, signal, undefined, answersFile)
  }

  /** Attempts the task folders of a benchmark, and scores what came of it. */
  async attempt(benchmark: string, question: AttemptQuestion) {
    const attempting = this.#attempt(benchmark, question)
    this.#underWay.add(attempting)
    try {
      return await attempting
    } finally {
      this.#underWay.delete(attempting)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The run that wanted a trial may be gone; the trial has things to put away.
    this.#closing.abort(new EvsysError('INTERRUPTED', 'the benchmarks were closed'))
    await Promise.allSettled(this.#underWay)
    await Promise.all([...this.#opened.values()].map(({ scorer }) => scorer[Symbol.asyncDispose]()))
    const scratch = await this.#scratch?.catch(() => undefined)
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
  }

  async #open(benchmark: Benchmark): Promise<void> {
    const { cards, agents, environments, dropping: _dropping, ...options } = this.#options
    const { name } = benchmark
    const folders = await taskFoldersOf(benchmark)
    if (folders !== undefined) {
      for (const agent of benchmark.agent === undefined ? agents : [benchmark.agent]) requireTrialAgent(agent, name)
      const places = benchmark.environment === undefined ? environments : [benchmark.environment]
      for (const environment of places) requireTrialEnvironment(environment, name)
    }
    const scorer = await openScorer({ ...options, benchmark, catalog: { cards: () => [...cards] } })
    this.#opened.set(name, { benchmark, scorer, folders })
  }

  #find(benchmark: string): Opened {
    const found = this.#opened.get(benchmark)
    if (found === undefined) throw new EvsysError('INTERNAL', `a run asked for the unknown benchmark "${benchmark}"`)
    return found
  }

  async #attempt(
    name: string,
    asked: AttemptQuestion,
  ): Promise<{ scored: Scored; predictions: readonly Prediction[] }> {
    const { agent: ofRun, environment, runAgent, systemPrompt, label, answersFile, ...question } = asked
    const { benchmark, scorer, folders } = this.#find(name)
    if (folders === undefined) throw new EvsysError('INTERNAL', `benchmark "${name}" has no task folders`)
    const { projectDir, cards, secretSource } = this.#options
    const outputDir = this.#outputDir ?? 'unplaced'
    const named = benchmark.agent ?? ofRun
    const agent = runAgent === undefined ? requireOwnAgent(named, name) : requireTrialAgent(named, name)
    const isProjects = (kind: string) =>
      cards.some((card) => card.type === 'agent' && card.kind === kind && card.origin !== 'built-in')
    const signal = AbortSignal.any([question.signal, this.#closing.signal])
    const { runBenchmarkTrials } = await import('../trials/benchmark-trials.ts') // with agents and environments
    this.#scratch ??= openTrialScratch(trialsFolder(projectDir), basename(outputDir))
    const { predictions, rewards } = await runBenchmarkTrials({
      ...question,
      tasks: folders,
      agent,
      secretSource,
      signal,
      environment: requireTrialEnvironment(benchmark.environment ?? environment, name),
      benchmark: systemPrompt === undefined ? benchmark : prompted(benchmark, systemPrompt),
      runAgent: placeOfAgent(agent, isProjects) === 'worker' ? runAgent : undefined,
      scratch: join(await this.#scratch, `${label}-${name}`),
    })
    return { scored: await scorer.score(predictions, signal, rewards, answersFile), predictions }
  }
}

/** What workers may know of a benchmark. Where rows that repeat its questions are left out, these are written into `outputDir`. */
export async function placeBenchmark(
  { benchmark, scorer, folders }: Opened,
  { isDropping, outputDir }: { isDropping: boolean; outputDir: string },
): Promise<SealedBenchmark> {
  const { name, split, run_every, num_samples, max_tokens, temperature, n_concurrent, chat_template } = benchmark
  const asked = { name, split, run_every, num_samples, max_tokens, temperature, n_concurrent, chat_template }
  return {
    ...asked,
    tasks_file: isDropping ? await writeQuestions(scorer, join(outputDir, 'questions', `${name}.jsonl`)) : undefined,
    agent: benchmark.agent,
    one_completion: benchmark.engine === 'harbor' ? undefined : true,
    inference: benchmark.inference,
    in_folders: folders === undefined ? undefined : true,
    drop_leaks: isDropping ? true : undefined,
  }
}

async function writeQuestions(scorer: OpenScorer, file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true })
  await writeFileAtomic(
    file,
    scorer
      .sealedTasks()
      .map((task) => `${JSON.stringify(task)}\n`)
      .join(''),
  )
  return file
}
