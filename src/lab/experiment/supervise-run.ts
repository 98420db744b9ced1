// One run from the controller's side: assign it, take in what its worker writes, have its answers scored, and record how it ended,
// also when the worker did not live to tell.
import { join } from 'node:path'
import type { ErrorRecord, Item, RunEvent, Scored } from '../../contracts/index.ts'
import { type Clock, EvsysError, problemsOf, toRecord } from '../../kernel/index.ts'
import type { Lease, OpenStore, RunRow } from '../../store/index.ts'
import { agentOf } from '../train/run-agent-spec.ts'
import { untilRunDirFree } from '../worker/run-holder.ts'
import type { RunOutcome, ScoreQuestion, TrialQuestion, WorkerPool } from '../worker/worker-pool.ts'
import { type AssignOptions, assignRun, runFolder, segmentFile, segmentNumbers } from './assign-run.ts'
import { requireSpace } from './require-space.ts'
import type { SealedBenchmarks } from './sealed-benchmarks.ts'
import { createIntake } from './segment-intake.ts'

export interface SuperviseOptions extends AssignOptions {
  /** What is written counts only while this lease is held. */
  readonly lease: Lease
  /** By the name of the run. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>
  readonly pool: WorkerPool
  readonly sealed: SealedBenchmarks
  readonly clock: Clock
  readonly stopping: AbortSignal
  readonly signal: AbortSignal
  /** Sees every item once it is stored. */
  onItem(row: RunRow, item: Item): void
  /** Hears what judging by a model cost. */
  onCost?(usd: number): void
}

/** Does one run. True: it completed. It throws what is not the run's own fault: a record that cannot be written, a full disk. */
export async function superviseRun(row: RunRow, options: SuperviseOptions): Promise<boolean> {
  const { store, outputDir, signal } = options
  const ended = await conductRun(row, options)
  signal.throwIfAborted()
  if (ended.outcome === 'interrupted') return false
  if (ended.outcome === 'lost') {
    await requireSpace(outputDir, ended.error)
    await tell(store, options, row, { type: 'run.finished', status: 'failed', metrics: {}, error: ended.error })
    return false
  }
  const now = await store.run(row.id)
  if (now?.status === 'failed') await requireSpace(outputDir, now.error)
  return now?.status === 'completed'
}

async function conductRun(row: RunRow, options: SuperviseOptions): Promise<RunOutcome> {
  const { pool, secrets, stopping, signal } = options
  const broken = new AbortController()
  const assignment = await assignRun(row, options)
  const intake = createIntake(row, assignment.segment_file, assignment.next_item, options, (error) =>
    broken.abort(error),
  )
  try {
    const ended = await pool.run(assignment, {
      onWritten: () => intake.poke(),
      onScore: (question) => scoreAnswers(question, options),
      onTrials: (question) => scoreTrials(row, question, options),
      stopping,
      signal: AbortSignal.any([signal, broken.signal]),
      secrets: secrets.get(row.name) ?? {},
    })
    await intake.drain()
    return ended
  } catch (error) {
    signal.throwIfAborted()
    return { outcome: 'lost', error: faultOfRun(error) }
  } finally {
    await intake.close()
  }
}

/** Takes in what earlier attempts wrote and nobody stored: the first thing after a crash. */
export async function takeInLeftovers(row: RunRow, options: SuperviseOptions): Promise<void> {
  const runDir = runFolder(options.outputDir, row.name)
  await untilRunDirFree(runDir, options.signal) // a worker of a controller that was killed has a moment left to live
  for (const attempt of await segmentNumbers(runDir)) {
    if (attempt < row.attempt) continue
    const { nextItem } = await options.store.cursor(`run:${row.id}`)
    const intake = createIntake(row, segmentFile(runDir, attempt), nextItem, options)
    try {
      await intake.drain()
    } catch (error) {
      faultOfRun(error) // what cannot be read is done again
    } finally {
      await intake.close()
    }
  }
}

// A segment that is damaged, or holds what the record refuses, is the work of the code in its worker. The record itself
// failing is not.
function faultOfRun(error: unknown): ErrorRecord {
  if (!EvsysError.is(error) || error.code === 'STORE_FAILED') throw error
  return error.toRecord()
}

async function scoreAnswers(
  { benchmark, predictions }: ScoreQuestion,
  { sealed, signal, onCost }: SuperviseOptions,
): Promise<Scored> {
  try {
    const scored = await sealed.score(benchmark, predictions)
    onCost?.(scored.judge?.cost_usd ?? 0)
    return scored
  } catch (error) {
    signal.throwIfAborted()
    return unscored(error)
  }
}

// Which agent attempts them is read from the record: what the worker says of itself does not count.
async function scoreTrials(
  row: RunRow,
  { benchmark, step, ...question }: TrialQuestion,
  { sealed, outputDir }: SuperviseOptions,
) {
  const { config } = row
  const agent = agentOf(config)
  try {
    return await sealed.attempt(benchmark, {
      ...question,
      ...(agent === undefined ? {} : { agent }),
      ...(config.environment === undefined ? {} : { environment: config.environment }),
      kept: { root: runFolder(outputDir, row.name), place: placeOfTrials(sealed, benchmark, step) },
      ...{ seed: config.seed, step: step ?? 'final', label: `${row.id}-${step ?? 'final'}` },
    })
  } catch (error) {
    question.signal.throwIfAborted()
    return { scored: unscored(error), predictions: [] }
  }
}

function placeOfTrials(
  { sealed }: Pick<SealedBenchmarks, 'sealed'>,
  benchmark: string,
  step: number | undefined,
): string {
  const isTest = sealed.some(({ name, split }) => name === benchmark && split === 'test')
  return join('logs', isTest ? 'test' : 'validation', 'trials', `${benchmark}-${step ?? 'final'}`)
}

function unscored(error: unknown): Scored {
  const [problem] = problemsOf(error)
  const record = problem === undefined ? new EvsysError('INTERNAL', 'scoring failed').toRecord() : toRecord(problem)
  return { metrics: {}, rewards: {}, n_tasks: 0, n_infra_failed: 0, scorer_hash: '', error: record }
}

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

/** Records an event of a run that has no worker to tell it. */
export async function tell(
  store: OpenStore,
  { clock, onItem, lease }: Pick<SuperviseOptions, 'clock' | 'onItem' | 'lease'>,
  row: RunRow,
  body: Body<RunEvent>,
): Promise<void> {
  const { nextEvent, nextItem } = await store.cursor(`run:${row.id}`)
  const at = new Date(clock.now()).toISOString()
  const event = { ...body, seq: nextEvent, at, run_id: row.id } as RunEvent // the three fields that Body leaves out
  await store.push({ stream: `run:${row.id}`, fromSeq: nextItem, items: [event] }, lease)
  onItem(row, event)
}
