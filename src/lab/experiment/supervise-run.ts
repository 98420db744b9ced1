// One run from the controller's side: assign it, take in what its worker writes, have its answers scored, and record how it ended,
// also when the worker did not live to tell.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Item, RunEvent, Scored } from '../../contracts/index.ts'
import { type Clock, EvsysError, problemsOf, toRecord } from '../../kernel/index.ts'
import type { OpenStore, RunRow } from '../../store/index.ts'
import { readSegment } from '../worker/segment-reader.ts'
import type { ScoreQuestion, WorkerPool } from '../worker/worker-pool.ts'
import { type AssignOptions, assignRun, runFolder } from './assign-run.ts'
import type { SealedBenchmarks } from './sealed-benchmarks.ts'

export interface SuperviseOptions extends AssignOptions {
  readonly pool: WorkerPool
  readonly sealed: SealedBenchmarks
  readonly clock: Clock
  readonly stopping: AbortSignal
  readonly signal: AbortSignal
  /** Sees every item once it is stored. */
  onItem(row: RunRow, item: Item): void
}

/** Does one run. True: it completed. */
export async function superviseRun(row: RunRow, options: SuperviseOptions): Promise<boolean> {
  const { store, pool, stopping, signal } = options
  const assignment = await assignRun(row, options)
  const intake = createIntake(row, assignment.segment_file, assignment.next_item, options)
  const ended = await pool.run(assignment, {
    onWritten: () => intake.poke(),
    onScore: (question) => scoreAnswers(question, options),
    stopping,
    signal,
  })
  await intake.drain()
  if (ended.outcome === 'interrupted') return false
  if (ended.outcome === 'lost') {
    await tell(store, options, row, { type: 'run.finished', status: 'failed', metrics: {}, error: ended.error })
    return false
  }
  return (await store.run(row.id))?.status === 'completed'
}

/** Takes in what earlier attempts wrote and nobody stored: the first thing after a crash. */
export async function takeInLeftovers(
  row: RunRow,
  options: Pick<SuperviseOptions, 'store' | 'outputDir' | 'onItem'>,
): Promise<void> {
  for (let attempt = Math.max(1, row.attempt); ; attempt++) {
    const file = join(runFolder(options.outputDir, row.name), 'segments', `${attempt}.jsonl`)
    if (!(await exists(file))) return
    const { nextItem } = await options.store.cursor(`run:${row.id}`)
    await createIntake(row, file, nextItem, options).drain()
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

/** Items per transaction. */
const BATCH = 500

function createIntake(
  row: RunRow,
  file: string,
  from: number,
  { store, onItem }: Pick<SuperviseOptions, 'store' | 'onItem'>,
) {
  const stream = `run:${row.id}`
  const reader = readSegment(file, from)
  let next = from
  let working: Promise<void> = Promise.resolve()
  let isAsked = false

  const take = async () => {
    for (;;) {
      const items = await reader.next(BATCH)
      if (items.length === 0) return
      const { nextSeq } = await store.push({ stream, fromSeq: next, items })
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
      ask().catch(() => {}) // `drain` reports it
    },
    async drain() {
      await ask()
      await reader.close()
    },
  }
}

async function scoreAnswers(
  { benchmark, predictions }: ScoreQuestion,
  { sealed, signal }: SuperviseOptions,
): Promise<Scored> {
  try {
    return await sealed.score(benchmark, predictions)
  } catch (error) {
    signal.throwIfAborted()
    const [problem] = problemsOf(error)
    const record = problem === undefined ? new EvsysError('INTERNAL', 'scoring failed').toRecord() : toRecord(problem)
    return { metrics: {}, rewards: {}, n_tasks: 0, n_infra_failed: 0, scorer_hash: '', error: record }
  }
}

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

/** Records an event of a run that has no worker to tell it. */
export async function tell(
  store: OpenStore,
  { clock, onItem }: Pick<SuperviseOptions, 'clock' | 'onItem'>,
  row: RunRow,
  body: Body<RunEvent>,
): Promise<void> {
  const { nextEvent, nextItem } = await store.cursor(`run:${row.id}`)
  const at = new Date(clock.now()).toISOString()
  const event = { ...body, seq: nextEvent, at, run_id: row.id } as RunEvent // the three fields that Body leaves out
  await store.push({ stream: `run:${row.id}`, fromSeq: nextItem, items: [event] })
  onItem(row, event)
}
