// Work that goes on while the controller decides: runs of candidates, checks, calls. Each piece is intended in the journal before it
// starts; what it brings is written by the controller, one after the other: as it arrives, or, where a session is to be repeated
// exactly, in the order in which it was begun.
import type { ResearchEntryOf } from '../../contracts/index.ts'
import { systemClock } from '../../kernel/index.ts'
import type { OpenSession } from './open-session.ts'
import { performAsk, performCheck, performRun } from './perform.ts'
import type { ResearchOptions } from './research-options.ts'
import type { NewEntry } from './session-journal.ts'
import type { Step } from './step.ts'

export type WorkStep = Exclude<Step, { kind: 'write' | 'wait' }>

export interface Workers extends AsyncDisposable {
  /** Keys of what is in progress. */
  readonly busy: ReadonlySet<string>
  hasRoom(): boolean
  /** Writes the intent and starts the work. */
  start(step: WorkStep): Promise<void>
  /** Waits for a piece of work, at most so long, and writes what it brought. */
  next(mostMs: number): Promise<void>
  /** Stops work on attempts that were judged meanwhile. */
  dropObsolete(): Promise<void>
  /** Stops everything. */
  stop(): Promise<void>
}

interface Piece {
  readonly keys: readonly string[]
  readonly step: WorkStep
  readonly abort: AbortController
  readonly ended: Promise<Piece>
  result?: { readonly entries: readonly NewEntry[] }
}

export function createWorkers(session: OpenSession, options: ResearchOptions): Workers {
  const { clock = systemClock } = options
  const pieces = new Set<Piece>()
  const busy = new Set<string>()
  const most = session.journal.state.settings?.workers ?? 1

  const settle = async (piece: Piece) => {
    pieces.delete(piece)
    for (const key of piece.keys) busy.delete(key)
    const entries = piece.result?.entries ?? []
    if (entries.length === 0) return
    await session.write(entries)
  }
  const stopAll = async () => {
    for (const { abort } of pieces) abort.abort()
    for (const piece of [...pieces]) await settle(await piece.ended)
  }
  return {
    busy,
    hasRoom: () => pieces.size < most,
    async start(step) {
      const keys = keysOf(step)
      for (const key of keys) busy.add(key)
      const { journal, recorder } = session
      if (step.kind === 'run') {
        const { kind: _kind, ...intent } = step
        await journal.append([{ type: 'run.intended', ...intent }], [await recorder.added(journal.state, step)])
        await recorder.started(journal.state, step)
      } else if (step.kind === 'ask') {
        await journal.append([...(step.lost === undefined ? [] : [step.lost]), step.intent])
      } else if (!journal.state.begun.some((work) => work.kind === 'check' && work.attempt === step.attempt)) {
        await journal.append([{ type: 'check.intended', attempt: step.attempt }])
      }
      const abort = new AbortController()
      const signal = AbortSignal.any([abort.signal, session.lost])
      const piece: Piece = {
        keys,
        step,
        abort,
        ended: work(session, options, step, signal).then((entries) => {
          piece.result = { entries }
          return piece
        }),
      }
      piece.ended.catch(() => {}) // awaited below
      pieces.add(piece)
    },
    async next(mostMs) {
      const timer = new AbortController()
      const heard = session.plugins.inOrder ? [...pieces].slice(0, 1) : [...pieces]
      const waits: Promise<Piece | undefined>[] = heard.map(({ ended }) => ended)
      waits.push(clock.sleep(mostMs, AbortSignal.any([timer.signal, options.signal])).then(nothing, nothing))
      try {
        const piece = await Promise.race(waits)
        if (piece !== undefined) await settle(piece)
      } finally {
        timer.abort()
      }
    },
    async dropObsolete() {
      const { attempts } = session.journal.state
      for (const piece of [...pieces]) {
        if (piece.step.kind !== 'run' || piece.step.purpose !== 'race') continue
        const { run, attempt, seed, split, purpose } = piece.step
        if (attempts.find(({ id }) => id === attempt)?.verdict === undefined) continue
        piece.abort.abort()
        await piece.ended
        const outcome = { status: 'killed' as const, reason: 'its attempt was decided meanwhile' }
        const finished: Omit<ResearchEntryOf<'run.finished'>, 'at'> = {
          type: 'run.finished',
          run,
          attempt,
          seed,
          split,
          purpose,
          outcome,
          wall_s: 0,
        }
        if ((piece.result?.entries.length ?? 0) === 0) piece.result = { entries: [finished] }
        await settle(piece)
      }
    },
    stop: stopAll,
    [Symbol.asyncDispose]: async () => {
      for (const { abort } of pieces) abort.abort()
      await Promise.allSettled([...pieces].map(({ ended }) => ended))
    },
  }
}

function nothing(): undefined {
  return undefined
}

function keysOf(step: WorkStep): string[] {
  if (step.kind === 'check') return [`attempt:${step.attempt}`]
  if (step.kind === 'ask') {
    return [
      `call:${step.intent.call}`,
      ...(step.intent.attempt === undefined ? [] : [`attempt:${step.intent.attempt}`]),
    ]
  }
  // Only a race holds its attempt: the incumbent may run for several at a time.
  return [
    `run:${step.run}`,
    ...(step.purpose === 'race' || step.purpose === 'ablate' ? [`attempt:${step.attempt}`] : []),
  ]
}

async function work(
  session: OpenSession,
  options: ResearchOptions,
  step: WorkStep,
  signal: AbortSignal,
): Promise<readonly NewEntry[]> {
  if (step.kind === 'check') return await performCheck(session, options, step.attempt, signal)
  if (step.kind === 'ask') return await performAsk(session, options, step, signal)
  return await performRun(session, options, step, signal)
}
