// Stored answers before the scorer as it is today: tasks, verifiers and metrics may have changed since. Nothing is asked again.
// Scores compare only where the hash of the scorer is equal, so a benchmark is scored anew for all runs of an experiment or none.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Benchmark, Prediction, type RunEvent, type Scored } from '../../contracts/index.ts'
import { openScorer, taskFoldersOf } from '../../evaluate/index.ts'
import {
  type Clock,
  checkValue,
  EvsysError,
  ifPresent,
  type PluginReference,
  type SecretSource,
} from '../../kernel/index.ts'
import { originDirOf, outputDirOf, predictionsFile, runFolder } from '../../record/index.ts'
import type { EvalRow, ExperimentRow, OpenStore, RunRow } from '../../store/index.ts'
import type { KeptEval } from '../evaluation/kept-evals.ts'
import { concludeAgain } from '../experiment/conclude-experiment.ts'

interface RescoreOptions {
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly secretSource: Pick<SecretSource, 'get'>
  /** Puts the new scores in the place of the old ones, which stay in the events, and concludes again. */
  readonly keep: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface Rescored {
  readonly run: string
  readonly benchmark: string
  readonly step: number | null
  /** `same`: the scorer is the one of then. `no answers`: they are not kept on this machine, or cannot be scored again; `message` says so. */
  readonly status: 'same' | 'rescored' | 'no answers' | 'failed'
  readonly before: { readonly scorer_hash: string; readonly metrics: Readonly<Record<string, number>> }
  readonly after?: { readonly scorer_hash: string; readonly metrics: Readonly<Record<string, number>> } | undefined
  readonly message?: string | undefined
}

export async function rescoreExperiment(
  store: OpenStore,
  experiment: ExperimentRow,
  options: RescoreOptions,
): Promise<Rescored[]> {
  const runs = await store.runs(experiment.id)
  const found: Rescored[] = []
  for (const benchmark of experiment.plan.experiment.metadata.benchmark) {
    const evals = await evalsOf(store, runs, benchmark.name)
    if (evals.length > 0) found.push(...(await rescoreBenchmark(store, experiment, benchmark, evals, options)))
  }
  if (options.keep && found.some(({ status }) => status === 'rescored')) {
    await concludeAgain(store, await store.findExperiment(experiment.id), options)
  }
  return found
}

/** Why a benchmark of task folders is not scored again. */
const attemptedOnce =
  'its tasks are folders: what an agent left in its environment is gone, and other tests or metrics cannot be run on it; run the experiment again'

interface Scorable {
  readonly run: RunRow
  readonly row: EvalRow
}

async function evalsOf(store: OpenStore, runs: readonly RunRow[], benchmark: string): Promise<Scorable[]> {
  const all = await Promise.all(runs.map(async (run) => (await store.evals(run.id)).map((row) => ({ run, row }))))
  return all.flat().filter(({ row }) => row.benchmark === benchmark)
}

async function rescoreBenchmark(
  store: OpenStore,
  experiment: ExperimentRow,
  benchmark: Benchmark,
  evals: readonly Scorable[],
  options: RescoreOptions,
): Promise<Rescored[]> {
  const { projectDir, plugins, secretSource, signal } = options
  await using scorer = await openScorer({ benchmark, projectDir, plugins, secretSource, signal })
  const inFolders = (await taskFoldersOf(benchmark)) !== undefined
  const results: { scorable: Scorable; rescored: Rescored; scored?: Scored | undefined }[] = []
  for (const scorable of evals) {
    const { run, row } = scorable
    const { step = null, metrics, scorerHash: scorer_hash } = row
    const about = { run: run.name, benchmark: row.benchmark, step, before: { scorer_hash, metrics } }
    const runDir =
      (await originDirOf(store, run, projectDir)) ?? runFolder(outputDirOf(experiment, projectDir), run.name)
    if (scorer_hash === scorer.hash) results.push({ scorable, rescored: { ...about, status: 'same' } })
    else if (inFolders) {
      results.push({ scorable, rescored: { ...about, status: 'no answers', message: attemptedOnce } })
    } else {
      try {
        const answers = await storedAnswers(row, runDir)
        if (answers === undefined) {
          results.push({ scorable, rescored: { ...about, status: 'no answers' } })
          continue
        }
        const scored = await scorer.score(answers)
        const after = { scorer_hash: scored.scorer_hash, metrics: scored.metrics }
        results.push({ scorable, scored, rescored: { ...about, status: 'rescored', after } })
      } catch (error) {
        signal.throwIfAborted()
        if (!EvsysError.is(error)) throw error
        results.push({ scorable, rescored: { ...about, status: 'failed', message: error.message } })
      }
    }
  }
  const isWhole = results.every(({ rescored: { status } }) => status === 'rescored' || status === 'same')
  if (options.keep && isWhole) {
    for (const { scorable, scored } of results)
      if (scored !== undefined) await replace(store, scorable, scored, options)
  } else if (options.keep && results.some(({ scored }) => scored !== undefined)) {
    const message = `benchmark "${benchmark.name}": not all answers could be scored anew, so nothing was replaced`
    const fix = 'look at the scores without --keep; runs whose answers are gone can be marked invalid.'
    throw new EvsysError('DATA_READ', message, { fix })
  }
  return results.map(({ rescored }) => rescored)
}

/** The answers that were scored, as the record knows them by their hash; undefined: they are not on this machine. */
async function storedAnswers(
  { benchmark, step, predictions: hash }: EvalRow,
  runDir: string,
): Promise<Prediction[] | undefined> {
  // Records from before answers had a hash keep them in the folder of the run.
  const old = join(runDir, 'predictions', `${benchmark}-${step ?? 'final'}.jsonl`)
  const file = hash === undefined ? old : predictionsFile(runDir, { benchmark, step })
  const bytes = await ifPresent('read', file, () => readFile(file))
  if (bytes === undefined) return undefined
  if (hash !== undefined && createHash('sha256').update(bytes).digest('hex') !== hash)
    throw invalidAnswers(`${file} does not hold the answers that were scored`)
  const lines = bytes.toString('utf8').split('\n')
  return lines.flatMap((line, i) => (line === '' ? [] : answerIn(line, `${file}:${i + 1}`)))
}

function answerIn(line: string, where: string): Prediction {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw invalidAnswers(`${where}: not JSON`, cause)
  }
  const checked = checkValue(Prediction, value)
  if (checked.ok) return checked.value
  const [issue] = checked.issues
  throw invalidAnswers(`${where}: not an answer: ${issue?.message ?? ''}`)
}

function invalidAnswers(message: string, cause?: unknown): EvsysError {
  const fix = 'restore the file, or run the experiment again with --fresh.'
  return new EvsysError('DATA_INVALID', message, { fix, cause })
}

async function replace(
  store: OpenStore,
  { run, row }: Scorable,
  scored: Scored,
  { clock }: RescoreOptions,
): Promise<void> {
  const { nextEvent, nextItem } = await store.cursor(`run:${run.id}`)
  const { predictions: _predictions, failures: _failures, judge: _judge, ...score } = scored
  const event: RunEvent = {
    seq: nextEvent,
    at: new Date(clock.now()).toISOString(),
    run_id: run.id,
    type: 'eval.finished',
    benchmark: row.benchmark,
    split: row.split,
    step: row.step,
    ...score,
    predictions: row.predictions,
  }
  await store.push({ stream: `run:${run.id}`, fromSeq: nextItem, items: [event] })
}

/** The answers of one evaluation before the scorer as it is today. */
export async function rescoreKeptEval(
  { kept, predictions }: { kept: KeptEval; predictions: readonly Prediction[] },
  options: { projectDir: string; secretSource: Pick<SecretSource, 'get'>; signal: AbortSignal },
): Promise<Rescored> {
  const { benchmark, folder, scored: before, model } = kept
  await using scorer = await openScorer({ ...options, benchmark, file: folder, plugins: [] })
  const about = { run: model, benchmark: benchmark.name, step: null, before }
  if (before.scorer_hash === scorer.hash) return { ...about, status: 'same' }
  if ((await taskFoldersOf({ ...benchmark, path: folder })) !== undefined)
    return { ...about, status: 'no answers', message: attemptedOnce }
  return { ...about, status: 'rescored', after: await scorer.score([...predictions]) }
}
