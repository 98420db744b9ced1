// The controller of a research session. One loop decides, appends to the journal and starts work; up to `workers` jobs run at a time.
// Every decision follows from the journal, so a controller may die at any moment: the next one reads the journal and resumes.
import { setImmediate as turn } from 'node:timers/promises'
import { durationSeconds, type ResearchState } from '../../contracts/index.ts'
import { EvsysError, systemClock } from '../../kernel/index.ts'
import { decide } from './decide.ts'
import { endedByCap } from './decide-end.ts'
import { concludeSession, type OpenSession, openSession } from './open-session.ts'
import { performAsk, performCheck, performRun } from './perform.ts'
import type { ResearchOptions, ResearchResult } from './research-options.ts'
import { capReached, workedSeconds } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import { obsoleteRun, type Step } from './step.ts'

/** How often a controller that waits reads what people wrote. */
const POLL_MS = 500
/** Work without a pause, at most. */
const BREATH_MS = 50

/** Runs a session to its end, or until it is interrupted. */
export async function runResearch(options: ResearchOptions): Promise<ResearchResult> {
  await using session = await openSession(options)
  const { journal } = session
  await session.recorder.catchUp(journal.state)
  await using workers = new Workers(session, options)
  const isEnded = await work(session, workers, options)
  if (isEnded) await options.onEnd?.({ experimentId: journal.experimentId, state: journal.state })
  if (isEnded) await concludeSession(session, options)
  return { experimentId: journal.experimentId, state: journal.state, status: isEnded ? 'ended' : 'interrupted' }
}

/** True: the session has ended. False: it was interrupted. */
async function work(session: OpenSession, workers: Workers, options: ResearchOptions): Promise<boolean> {
  const { clock = systemClock, signal, fingerprint } = options
  const { journal, plugins } = session
  const breathe = createBreath()
  for (;;) {
    await breathe()
    if (signal.aborted) {
      await workers.stop()
      await journal.append([{ type: 'session.interrupted', reason: 'interrupted by its user' }])
      return false
    }
    session.lost.throwIfAborted()
    await journal.refresh()
    await workers.cancelObsolete()
    if (journal.state.status === 'ended') return true
    if (isOutOfTime(journal.state, clock.now())) {
      await workers.stop()
      const text = 'The time of the budget is used up; what was running was stopped.'
      await journal.append([{ type: 'session.ended', reason: 'wall', text }])
      return true
    }
    const step = decide({ state: journal.state, plugins, nowMs: clock.now(), busy: workers.busy, fingerprint })
    // A race is judged run by run: the next one may be one too many, and what is open then stays open.
    const cap = step.kind === 'run' && !isBegun(journal.state, step) ? capReached(journal.state) : undefined
    if (cap !== undefined && workers.busy.size === 0) {
      await journal.append([endedByCap(journal.state, cap)])
      return true
    }
    if (step.kind === 'write') await session.write(step.entries)
    else if (cap !== undefined) await workers.next(POLL_MS)
    else if (step.kind !== 'wait' && workers.hasRoom) await workers.start(step)
    else if (workers.busy.size > 0 || journal.state.paused) await workers.next(POLL_MS)
    else throw new EvsysError('INTERNAL', 'the session waits, and nothing is in progress')
  }
}

// Where all work is done at once, nothing else would let in Ctrl-C, or the renewal of the lease.
function createBreath(): () => Promise<void> {
  let last = performance.now()
  return async () => {
    if (performance.now() - last < BREATH_MS) return
    await turn()
    last = performance.now()
  }
}

function isOutOfTime(state: ResearchState, nowMs: number): boolean {
  const wall = state.settings?.budget.wall
  return wall !== undefined && workedSeconds(state, nowMs) >= durationSeconds(wall)
}

// Intended before the controller died: it is counted already.
function isBegun({ begun }: ResearchState, step: Step): boolean {
  return step.kind === 'run' && begun.some((work) => work.kind === 'run' && work.run === step.run)
}

type WorkStep = Exclude<Step, { kind: 'write' | 'wait' }>

/** One piece of work in progress. */
interface Job {
  readonly keys: readonly string[]
  readonly step: WorkStep
  readonly abort: AbortController
  readonly ended: Promise<Job>
  entries: readonly NewEntry[]
}

/**
 * Work that runs while the controller decides: runs of candidates, checks, calls. Each job is intended in the journal before it starts.
 * The controller writes its entries: as they arrive, or, where a session is to be repeated exactly, in the order in which jobs began.
 */
class Workers implements AsyncDisposable {
  /** Keys of what is in progress. */
  readonly busy = new Set<string>()
  readonly #jobs = new Set<Job>()
  readonly #session: OpenSession
  readonly #options: ResearchOptions

  constructor(session: OpenSession, options: ResearchOptions) {
    this.#session = session
    this.#options = options
  }

  get hasRoom(): boolean {
    return this.#jobs.size < (this.#session.journal.state.settings?.workers ?? 1)
  }

  /** Writes the intent and starts the work. */
  async start(step: WorkStep): Promise<void> {
    const keys = keysOf(step)
    for (const key of keys) this.busy.add(key)
    await this.#intend(step)
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, this.#session.lost])
    const job: Job = {
      keys,
      step,
      abort,
      entries: [],
      ended: this.#perform(step, signal).then((entries) => {
        job.entries = entries
        return job
      }),
    }
    job.ended.catch(() => {}) // awaited below
    this.#jobs.add(job)
  }

  /** Waits for a job, at most so long, and writes its entries. */
  async next(mostMs: number): Promise<void> {
    const { clock = systemClock, signal } = this.#options
    const timer = new AbortController()
    const awaited = this.#session.plugins.inOrder ? [...this.#jobs].slice(0, 1) : [...this.#jobs]
    const nothing = () => undefined
    const pause = clock.sleep(mostMs, AbortSignal.any([timer.signal, signal])).then(nothing, nothing)
    try {
      const job = await Promise.race([...awaited.map(({ ended }) => ended), pause])
      if (job !== undefined) await this.#settle(job)
    } finally {
      timer.abort()
    }
  }

  /** Cancels runs of attempts that were decided meanwhile. */
  async cancelObsolete(): Promise<void> {
    const { attempts } = this.#session.journal.state
    for (const job of [...this.#jobs]) {
      const { step } = job
      if (step.kind !== 'run' || step.purpose !== 'race') continue
      if (attempts.find(({ id }) => id === step.attempt)?.verdict === undefined) continue
      job.abort.abort()
      await job.ended
      if (job.entries.length === 0) job.entries = [obsoleteRun(step)]
      await this.#settle(job)
    }
  }

  /** Cancels everything, and writes what ended all the same. */
  async stop(): Promise<void> {
    for (const { abort } of this.#jobs) abort.abort()
    for (const job of [...this.#jobs]) await this.#settle(await job.ended)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { abort } of this.#jobs) abort.abort()
    await Promise.allSettled([...this.#jobs].map(({ ended }) => ended))
  }

  async #intend(step: WorkStep): Promise<void> {
    const { journal, recorder } = this.#session
    if (step.kind === 'run') {
      const { kind: _kind, ...intent } = step
      await journal.append([{ type: 'run.intended', ...intent }], [await recorder.added(journal.state, step)])
      await recorder.started(journal.state, step)
    } else if (step.kind === 'ask') {
      await journal.append([...(step.lost === undefined ? [] : [step.lost]), step.intent])
    } else if (!journal.state.begun.some((work) => work.kind === 'check' && work.attempt === step.attempt)) {
      await journal.append([{ type: 'check.intended', attempt: step.attempt }])
    }
  }

  async #perform(step: WorkStep, signal: AbortSignal): Promise<readonly NewEntry[]> {
    if (step.kind === 'check') return await performCheck(this.#session, this.#options, step.attempt, signal)
    if (step.kind === 'ask') return await performAsk(this.#session, this.#options, step, signal)
    return await performRun(this.#session, this.#options, step, signal)
  }

  async #settle(job: Job): Promise<void> {
    this.#jobs.delete(job)
    for (const key of job.keys) this.busy.delete(key)
    if (job.entries.length > 0) await this.#session.write(job.entries)
  }
}

function keysOf(step: WorkStep): string[] {
  if (step.kind === 'check') return [`attempt:${step.attempt}`]
  if (step.kind === 'ask') {
    const { call, attempt } = step.intent
    return [`call:${call}`, ...(attempt === undefined ? [] : [`attempt:${attempt}`])]
  }
  // Only a race holds its attempt: the incumbent may run for several at a time.
  const holds = step.purpose === 'race' || step.purpose === 'ablate'
  return [`run:${step.run}`, ...(holds ? [`attempt:${step.attempt}`] : [])]
}
