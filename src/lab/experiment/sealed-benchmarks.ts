// The benchmarks of an experiment: one scorer process each, which alone knows the expected answers, and the questions as files
// that workers may read.
import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Benchmark, PluginCard, Prediction, Scored, SealedBenchmark, SealedTask } from '../../contracts/index.ts'
import { type OpenScorer, openScorer } from '../../evaluate/index.ts'
import {
  EvsysError,
  mapConcurrent,
  type PluginReference,
  type SecretSource,
  writeFileAtomic,
} from '../../kernel/index.ts'

export interface SealedBenchmarks extends AsyncDisposable {
  readonly sealed: readonly SealedBenchmark[]
  /** What is asked. */
  tasks(benchmark: string): readonly SealedTask[]
  hash(benchmark: string): string
  score(benchmark: string, predictions: readonly Prediction[]): Promise<Scored>
}

export async function openSealedBenchmarks(
  benchmarks: readonly Benchmark[],
  options: {
    outputDir: string
    projectDir: string
    plugins: readonly PluginReference[]
    /** What the plugins of the project are, where it is known; absent: each scorer looks at them itself. */
    cards?: readonly PluginCard[]
    hidden?: readonly string[]
    /** Of the models that judge. */
    secretSource?: Pick<SecretSource, 'get'>
    signal: AbortSignal
  },
): Promise<SealedBenchmarks> {
  const { outputDir, projectDir, plugins, cards, hidden = [], secretSource, signal } = options
  const scorers = new Map<string, OpenScorer>()
  let sealed: readonly SealedBenchmark[] = []
  const close = async () => {
    await Promise.all([...scorers.values()].map((scorer) => scorer[Symbol.asyncDispose]()))
  }
  try {
    await mkdir(join(outputDir, 'questions'), { recursive: true })
    const opening = { limit: availableParallelism(), signal }
    sealed = await mapConcurrent(benchmarks, opening, async (benchmark) => {
      const scorer = await openScorer({
        ...{ benchmark, projectDir, plugins, hidden, signal },
        ...(secretSource === undefined ? {} : { secretSource }),
        ...(cards === undefined ? {} : { catalog: { cards: () => [...cards] } }),
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
        ...(agent === undefined ? {} : { agent }),
      }
    })
  } catch (error) {
    await close()
    throw error
  }
  const scorerOf = (benchmark: string) => {
    const scorer = scorers.get(benchmark)
    if (scorer === undefined) throw new EvsysError('INTERNAL', `a run asked for the unknown benchmark "${benchmark}"`)
    return scorer
  }
  return {
    sealed,
    tasks: (benchmark) => scorerOf(benchmark).sealedTasks(),
    hash: (benchmark) => scorerOf(benchmark).hash,
    score: async (benchmark, predictions) => scorerOf(benchmark).score(predictions),
    [Symbol.asyncDispose]: close,
  }
}
