// The order of things in a session: steering by people, work that a dead controller had begun, the baseline, a test evaluation in
// progress, open candidates, answers to read, control runs, a test evaluation that is due, and new ideas last. Pure: equal states and
// clocks give equal steps.
import type { EndReason } from '../../contracts/index.ts'
import { decideAttempt } from './decide-attempt.ts'
import { decideBaseline, decideControl, decideDrift } from './decide-baseline.ts'
import { decideAnswer, decideAsk, decideReadyIdea } from './decide-call.ts'
import { decideEnd, runsToAblate } from './decide-end.ts'
import { decideInterrupted, decideSteering } from './decide-pending.ts'
import { decideDueTestEvaluation, decideOpenTestEvaluation, runsToConfirm } from './decide-test-evaluation.ts'
import { capInTheWay } from './session-budget.ts'
import type { Deciding, Step } from './step.ts'

export function decide(deciding: Deciding): Step {
  const { state, plugins, nowMs } = deciding
  if (state.paused) return { kind: 'wait' }
  const first =
    decideSteering(deciding) ??
    decideInterrupted(deciding) ??
    decideBaseline(deciding) ??
    decideDrift(deciding) ??
    decideControl(deciding, 'assess')
  if (first !== undefined) return first
  const open = decideOpenTestEvaluation(deciding) ?? decideAttempts(deciding) ?? decideAnswer(deciding)
  if (open !== undefined) return open
  const ending = capInTheWay(state, nowMs, plugins.asksModel, runsAtEnd(deciding)) ?? nothingNew(deciding)
  if (ending !== undefined) {
    const ready = needsCall.has(ending) ? decideReadyIdea(deciding) : undefined
    return ready ?? (isAtWork(deciding) ? { kind: 'wait' } : decideEnd(deciding, ending))
  }
  return (
    decideControl(deciding, 'run') ??
    decideDueTestEvaluation(deciding, false) ??
    decideReadyIdea(deciding) ??
    decideAsk(deciding) ?? { kind: 'wait' }
  )
}

// Caps on runs and time leave room for what makes a result of it.
function runsAtEnd(deciding: Deciding): number {
  return runsToConfirm(deciding) + runsToAblate(deciding)
}

/** Ends that come because no call can or need be made: ideas of people are run all the same. */
const needsCall: ReadonlySet<EndReason> = new Set(['usd', 'tokens', 'finished'])

function decideAttempts(deciding: Deciding): Step | undefined {
  for (const attempt of deciding.state.attempts) {
    if (attempt.verdict !== undefined || deciding.busy.has(`attempt:${attempt.id}`)) continue
    const step = decideAttempt(deciding, attempt)
    if (step !== undefined) return step
  }
  return undefined
}

function isAtWork({ busy, state }: Deciding): boolean {
  const isOpen = state.attempts.some(({ verdict, origin }) => verdict === undefined && origin !== 'ablation')
  return busy.size > 0 || state.look !== undefined || isOpen
}

/** Calls in a row that gave nothing to run, or failed, before a session ends. */
const MOST_FRUITLESS = 20
const MOST_FAILED = 3

function nothingNew({ state }: Deciding): EndReason | undefined {
  const asked = state.calls
    .slice(state.forgivenCalls)
    .filter(({ purpose, status, used }) => purpose === 'propose' && status !== 'open' && used)
  const fruits = new Set(state.attempts.map(({ call }) => call))
  const lastFruit = asked.findLastIndex(({ call }) => fruits.has(call))
  const since = asked.slice(lastFruit + 1)
  const failed = since.length - 1 - since.findLastIndex(({ status }) => status !== 'failed')
  if (failed >= MOST_FAILED) return 'failed'
  return since.length >= MOST_FRUITLESS ? 'finished' : undefined
}
