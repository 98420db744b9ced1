// The benchmarks of an experiment: one scorer process each, which alone knows the expected answers, and the questions as files
// that workers may read.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark, Prediction, Scored, SealedBenchmark, SealedTask } from '../../contracts/index.ts'
import { type OpenScorer, openScorer } from '../../evaluate/index.ts'
import { EvsysError, type PluginReference, type SecretSource, writeFileAtomic } from '../../kernel/index.ts'

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
    hidden?: readonly string[]
    /** Of the models that judge. */
    secretSource?: Pick<SecretSource, 'get'>
    signal: AbortSignal
  },
): Promise<SealedBenchmarks> {
  const { outputDir, projectDir, plugins, hidden = [], secretSource, signal } = options
  const scorers = new Map<string, OpenScorer>()
  const sealed: SealedBenchmark[] = []
  const close = async () => {
    await Promise.all([...scorers.values()].map((scorer) => scorer[Symbol.asyncDispose]()))
  }
  try {
    await mkdir(join(outputDir, 'questions'), { recursive: true })
    for (const benchmark of benchmarks) {
      const scorer = await openScorer({
        ...{ benchmark, projectDir, plugins, hidden, signal },
        ...(secretSource === undefined ? {} : { secretSource }),
      })
      scorers.set(benchmark.name, scorer)
      const tasks_file = join(outputDir, 'questions', `${benchmark.name}.jsonl`)
      const lines = (await scorer.sealedTasks()).map((task) => `${JSON.stringify(task)}\n`)
      await writeFileAtomic(tasks_file, lines.join(''))
      const { name, split, run_every, num_samples, max_tokens, temperature, n_concurrent, chat_template, agent } =
        benchmark
      sealed.push({
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
      })
    }
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
