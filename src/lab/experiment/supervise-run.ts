// One run from the controller's side: assign it, take in what its worker writes, have its answers scored, and record how it ended,
// also when the worker did not live to tell.

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentOf, type ErrorRecord, type Item, type RunEvent, type Scored } from '../../contracts/index.ts'
import {
  EvsysError,
  fileError,
  isDiskFull,
  isDiskFullError,
  problemsOf,
  systemCode,
  toRecord,
} from '../../kernel/index.ts'
import { runFolder, segmentFile, segmentNumbers } from '../../record/index.ts'
import { type Lease, type OpenStore, type RunRow, requireTraining } from '../../store/index.ts'
import { untilRunDirFree } from '../workers/run-holder.ts'
import { readSegment } from '../workers/segment-reader.ts'
import type { RunOutcome } from '../workers/worker-pool.ts'
import type { ScoreQuestion, TrialQuestion } from '../workers/worker-process.ts'
import { assignRun } from './assign-run.ts'
import type { ExperimentSession } from './experiment-session.ts'
import type { SealedBenchmarks } from './sealed-benchmarks.ts'

/** Does one run. True: it completed. It throws what is not the run's own fault: a record that cannot be written, a full disk. */
export async function superviseRun(row: RunRow, session: ExperimentSession): Promise<boolean> {
  const { store, outputDir, signal } = session
  const ended = await conductRun(row, session)
  signal.throwIfAborted()
  if (ended.outcome === 'interrupted') return false
  if (ended.outcome === 'lost') {
    await requireSpace(outputDir, ended.error)
    await reportRun(session, row, { type: 'run.finished', status: 'failed', metrics: {}, error: ended.error })
    return false
  }
  const now = await store.run(row.id)
  if (now?.status === 'failed') await requireSpace(outputDir, now.error)
  return now?.status === 'completed'
}

async function conductRun(row: RunRow, session: ExperimentSession): Promise<RunOutcome> {
  const { pool, secrets, stopping, signal } = session
  const broken = new AbortController()
  const assignment = await assignRun(row, session)
  const intake = createIntake(row, assignment.segment_file, assignment.next_item, session, (error) =>
    broken.abort(error),
  )
  try {
    const ended = await pool.run(assignment, {
      onWritten: () => intake.poke(),
      onScore: (question) => scoreAnswers(question, session),
      onTrials: (question) => scoreTrials(row, question, session),
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

/** Ingests what earlier attempts wrote and the record does not have: the first thing after a crash. */
export async function ingestLeftovers(row: RunRow, session: ExperimentSession): Promise<void> {
  const runDir = runFolder(session.outputDir, row.name)
  await untilRunDirFree(runDir, session.signal) // a worker of a controller that was killed has a moment left to live
  for (const attempt of await segmentNumbers(runDir)) {
    if (attempt < row.attempt) continue
    const { nextItem } = await session.store.cursor(`run:${row.id}`)
    const intake = createIntake(row, segmentFile(runDir, attempt), nextItem, session)
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
  { sealed, signal, onCost }: ExperimentSession,
): Promise<Scored> {
  try {
    const scored = await sealed.score(benchmark, predictions)
    onCost(scored.judge?.cost_usd ?? 0)
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
  { sealed, outputDir }: ExperimentSession,
) {
  const { config } = requireTraining(row)
  const agent = agentOf(config)
  try {
    return await sealed.attempt(benchmark, {
      ...question,
      agent,
      environment: config.environment,
      kept: { root: runFolder(outputDir, row.name), place: placeOfTrials(sealed, benchmark, step) },
      seed: config.seed,
      step: step ?? 'final',
      label: `${row.id}-${step ?? 'final'}`,
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

/** Records an event of a run that has no worker to report it. */
export async function reportRun(
  { store, clock, onItem, lease }: ExperimentSession,
  row: RunRow,
  body: Body<RunEvent>,
): Promise<void> {
  const { nextEvent, nextItem } = await store.cursor(`run:${row.id}`)
  const at = new Date(clock.now()).toISOString()
  const event = { ...body, seq: nextEvent, at, run_id: row.id } as RunEvent // the three fields that Body leaves out
  await store.push({ stream: `run:${row.id}`, fromSeq: nextItem, items: [event] }, lease)
  onItem(row, event)
}

// A full disk fails whatever is written next, in any run: it says nothing of the recipe, and the runs that met it are done again
// once there is space. So the experiment stops there instead of recording failures.
/** What a failed run is granted; less than this is a full disk, whatever the run failed with. */
const PROBE_BYTES = 256 * 1024

/** Throws when a run failed, with `error`, because its disk is full. */
export async function requireSpace(dir: string, error: ErrorRecord | undefined): Promise<void> {
  if (error !== undefined && isDiskFullError(error)) {
    throw new EvsysError(error.code, error.message, {
      fix: 'free some space (`df` shows how much), then go on with --resume.',
    })
  }
  const file = join(dir, `space-${process.pid}`)
  try {
    await writeFile(file, Buffer.alloc(PROBE_BYTES))
  } catch (cause) {
    if (isDiskFull(systemCode(cause))) throw fileError('write', file, cause)
  } finally {
    await rm(file, { force: true }).catch(() => {}) // a folder that is not there has no file either
  }
}

// From the segment of a run into the record, in order, a batch per transaction.
interface Intake {
  /** There is more to read. */
  poke(): void
  /** Stores what is there by now; an error of this or an earlier reading. */
  drain(): Promise<void>
  close(): Promise<void>
}

interface IntakeOptions {
  readonly store: Pick<OpenStore, 'push'>
  readonly lease: Lease
  /** Sees every item once it is stored. */
  onItem(row: RunRow, item: Item): void
}

/** Items per transaction. */
const BATCH = 500

/** Reads `file` from item `from` on. `onFailed` hears of the first failure; nothing is stored after it. */
export function createIntake(
  row: RunRow,
  file: string,
  from: number,
  { store, lease, onItem }: IntakeOptions,
  onFailed: (error: unknown) => void = () => {},
): Intake {
  const stream = `run:${row.id}`
  const reader = readSegment(file, from, { runId: row.id })
  let next = from
  let working: Promise<void> = Promise.resolve()
  let isAsked = false

  const take = async () => {
    for (;;) {
      const items = await reader.next(BATCH)
      if (items.length === 0) return
      const { nextSeq } = await store.push({ stream, fromSeq: next, items }, lease)
      next = nextSeq
      for (const item of items) onItem(row, item)
    }
  }
  const ask = () => {
    working = working.then(() => {
      isAsked = false
      return take()
    })
    return working
  }
  return {
    poke() {
      if (isAsked) return
      isAsked = true
      ask().catch(onFailed) // `drain` throws it
    },
    drain: ask,
    async close() {
      await working.catch(() => {}) // told by `drain`
      await reader.close()
    },
  }
}
