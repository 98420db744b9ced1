// The sealed scorer of one benchmark, in a separate process: it alone holds verifiers, metrics and expected answers. The process
// that opens it sees instructions, answers and scores.
import { join } from 'node:path'
import type { Benchmark, Prediction, Row, Scored, SealedTask } from '../../contracts/index.ts'
import { type Catalog, EvsysError, openCatalog, type PluginReference, type SecretSource } from '../../kernel/index.ts'
import { type PluginPlace, placesOf } from './scorer-plugins.ts'
import { type ScorerDeath, type ScorerProcess, startScorerProcess } from './scorer-process.ts'
import type { ScorerStart, ToScorer } from './scorer-protocol.ts'

export interface ScorerOptions {
  readonly benchmark: Benchmark
  /** Folder of the benchmark, or its tasks as rows. Absent: what `path` or `data` of the benchmark names. */
  readonly file?: string | readonly Row[] | undefined
  readonly projectDir: string
  /** What `plugins:` of the experiment names. */
  readonly plugins: readonly PluginReference[]
  /** The plugins of the project, where they are known already; absent: they are inspected here, in a separate process. */
  readonly catalog?: Pick<Catalog, 'cards'> | undefined
  /** Paths that the code of the project must not see while it is looked at. */
  readonly hidden?: readonly string[] | undefined
  /** Those that verifiers declare. */
  readonly secrets?: Readonly<Record<string, string>> | undefined
  /** Where the secrets of models that judge come from; absent: they have none, and verdicts that were kept are all there is. */
  readonly secretSource?: Pick<SecretSource, 'get'> | undefined
  /** Longest that one verification may take; default 30 s. */
  readonly verifierMs?: number | undefined
  readonly signal: AbortSignal
}

export interface OpenScorer extends AsyncDisposable {
  /** Covers tasks, verifiers, metrics and their code. Results compare only where it is equal. */
  readonly hash: string
  /** What a worker may know: id and instruction, in benchmark order. */
  sealedTasks(): readonly SealedTask[]
  /**
   * Scores answers. A scorer that dies is started again once, and verifies one answer at a time: if it dies again, the answer it
   * was at has no reward and the others are scored. Where that does not help, dying is the error of this evaluation.
   */
  score(
    predictions: readonly Prediction[],
    signal?: AbortSignal,
    /** Of trials, where the tasks are folders: their tests have judged. */
    rewards?: readonly TrialReward[],
    /** Written by the scorer, which alone knows what was expected: one line of JSON for each answer, `ScoredAnswer`. */
    answersFile?: string,
  ): Promise<Scored>
}

export type TrialReward = NonNullable<ToScorer['rewards']>[number]

/** Answers of one evaluation that may take a scorer down; with more, it is the verifier that is wrong. */
const mostFatal = 3

/** Opens the scorer of a benchmark. Every fault of its tasks and plugins is an error here. Close it: it is a process. */
export async function openScorer(options: ScorerOptions): Promise<OpenScorer> {
  const { benchmark, signal } = options
  const start = startOf(options, await pluginPlaces(options))
  const secretsOf = (names: readonly string[]) => setSecrets(names, options.secretSource)
  const sealed = await openProcess(start, secretsOf, signal)
  let live: ScorerProcess | undefined = sealed.process

  const reopen = async (own: AbortSignal): Promise<ScorerProcess> => {
    const opened = await openProcess(start, secretsOf, own)
    if (opened.hash === sealed.hash) return opened.process
    await opened.process.close()
    throw new EvsysError('DATA_INVALID', `benchmark "${benchmark.name}" has changed since the experiment began`, {
      fix: 'put its tasks, verifiers and metrics back, or begin a new experiment.',
    })
  }

  const scoreAll = async (
    predictions: readonly Prediction[],
    own: AbortSignal,
    rewards: readonly TrialReward[] | undefined,
    answers_file: string | undefined,
  ): Promise<Scored> => {
    const excluded: { task_id: string; sample: number; reason: string }[] = []
    for (let deaths = 0; ; deaths++) {
      const limit = deaths === 0 ? benchmark.n_concurrent : 1
      const given = rewards && [...rewards]
      const result = await ask({ predictions: [...predictions], excluded, limit, rewards: given, answers_file }, own)
      if ('scored' in result) return result.scored
      live = undefined
      if (deaths === 0) continue
      if (result.answer === undefined || excluded.length === mostFatal) throw EvsysError.many([result.error])
      excluded.push({ ...result.answer, reason: result.error.message })
    }
  }
  const ask = async (message: ToScorer, own: AbortSignal) => {
    const process = live ?? (await reopen(own))
    live = process
    try {
      return await process.score(message, own)
    } catch (error) {
      if (own.aborted) {
        live = undefined // cancelled in the middle, its process was ended
        await process.close()
      }
      throw error
    }
  }

  const closing = new AbortController()
  let turn: Promise<unknown> = Promise.resolve()
  return {
    hash: sealed.hash,
    sealedTasks: () => sealed.tasks,
    score(predictions, own = signal, rewards = undefined, answersFile = undefined) {
      const either = AbortSignal.any([own, closing.signal])
      const scored = turn.then(() => {
        either.throwIfAborted()
        return scoreAll(predictions, either, rewards, answersFile)
      })
      turn = scored.catch(() => {}) // one evaluation at a time
      return scored
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new EvsysError('INTERRUPTED', `the scorer of benchmark "${benchmark.name}" was closed`))
      await turn
      await live?.close()
      live = undefined
    },
  }
}

async function openProcess(
  start: ScorerStart,
  secretsOf: Parameters<typeof startScorerProcess>[1],
  signal: AbortSignal,
): Promise<{ process: ScorerProcess; hash: string; tasks: readonly SealedTask[] }> {
  let death: ScorerDeath | undefined
  for (let attempt = 0; attempt < 2; attempt++) {
    signal.throwIfAborted()
    const process = startScorerProcess(start, secretsOf)
    try {
      const opened = await process.open(signal)
      if (!('error' in opened)) return { process, ...opened }
      death = opened
    } catch (error) {
      await process.close()
      throw error
    }
  }
  throw EvsysError.many(death === undefined ? [] : [death.error])
}

async function pluginPlaces({
  catalog,
  projectDir,
  plugins,
  hidden = [],
  signal,
}: ScorerOptions): Promise<PluginPlace[]> {
  if (catalog !== undefined) return placesOf(catalog.cards())
  await using own = await openCatalog({ builtins: [], projectDir, plugins, hidden, signal })
  if (own.problems.length > 0) throw EvsysError.many(own.problems)
  return placesOf(own.cards())
}

function startOf(
  { benchmark, file, projectDir, secrets, verifierMs }: ScorerOptions,
  plugins: readonly PluginPlace[],
): ScorerStart {
  return {
    benchmark,
    source: sourceOf(benchmark, file),
    project_dir: projectDir,
    plugins: [...plugins],
    secrets: { ...secrets },
    verifier_ms: verifierMs ?? 30_000,
    verdicts_dir: join(projectDir, '.evsys', 'verdicts'),
  }
}

function setSecrets(names: readonly string[], source: ScorerOptions['secretSource']): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = source?.get(name)
      return value === undefined || value.trim() === '' ? [] : [[name, value]]
    }),
  )
}

function sourceOf({ name, path, data }: Benchmark, file: ScorerOptions['file']): ScorerStart['source'] {
  if (typeof file === 'string') return { folder: file }
  if (file !== undefined) return { rows: file.map((row) => ({ ...row })) }
  if (path !== undefined) return { folder: path }
  if (data !== undefined) return { data }
  throw new EvsysError('CONFIG_INVALID', `benchmark "${name}" names no folder and no data`, {
    fix: 'give it a path: path: data/val.',
  })
}
