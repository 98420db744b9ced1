// The controller of a research session. One loop decides, writes down and starts work; up to `workers` pieces of work go on at a time,
// and what they bring is written in the order it arrives. Every decision follows from the journal, so a controller may die at any
// moment: the next one reads the journal and goes on.
import { setImmediate as turn } from 'node:timers/promises'
import type { ResearchState } from '../../contracts/index.ts'
import { durationSeconds } from '../../contracts/index.ts'
import { EvsysError, systemClock } from '../../kernel/index.ts'
import { concludeSession } from './conclude-session.ts'
import { decide } from './decide.ts'
import { type OpenSession, openSession } from './open-session.ts'
import type { ResearchOptions, ResearchResult } from './research-options.ts'
import { workedSeconds } from './session-budget.ts'
import { createWorkers, type Workers } from './workers.ts'

/** How often a controller that waits looks for what people wrote. */
const POLL_MS = 500
/** Work without a pause, at most. */
const BREATH_MS = 50

/** Runs a session to its end, or until it is interrupted. */
export async function runResearch(options: ResearchOptions): Promise<ResearchResult> {
  await using session = await openSession(options)
  const { journal } = session
  await session.recorder.catchUp(journal.state)
  await using workers = createWorkers(session, options)
  const isEnded = await goOn(session, workers, options)
  if (isEnded) await concludeSession(session, options)
  return { experimentId: journal.experimentId, state: journal.state, status: isEnded ? 'ended' : 'interrupted' }
}

/** True: the session has ended. False: it was interrupted. */
async function goOn(session: OpenSession, workers: Workers, options: ResearchOptions): Promise<boolean> {
  const { clock = systemClock, signal, tools } = options
  const { journal, plugins } = session
  const breathe = createBreath()
  for (;;) {
    await breathe()
    if (signal.aborted) return await letGo(session, workers)
    session.lost.throwIfAborted()
    await journal.refresh()
    await workers.dropObsolete()
    if (journal.state.status === 'ended') return true
    if (isOutOfTime(journal.state, clock.now())) {
      await workers.stop()
      const text = 'The time of the budget is used up; what was running was stopped.'
      await journal.append([{ type: 'session.ended', reason: 'wall', text }])
      return true
    }
    const step = decide({ state: journal.state, plugins, nowMs: clock.now(), busy: workers.busy, tools })
    if (step.kind === 'write') await session.write(step.entries)
    else if (step.kind !== 'wait' && workers.hasRoom()) await workers.start(step)
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

async function letGo({ journal }: OpenSession, workers: Workers): Promise<false> {
  await workers.stop()
  await journal.append([{ type: 'session.interrupted', reason: 'interrupted by its user' }])
  return false
}

function isOutOfTime(state: ResearchState, nowMs: number): boolean {
  const wall = state.settings?.budget.wall
  return wall !== undefined && workedSeconds(state, nowMs) >= durationSeconds(wall)
}
