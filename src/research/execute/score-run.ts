// The score of one run, by the sealed scorer in a process of its own.
import { extname } from 'node:path'
import type { Metrics } from '../../contracts/index.ts'
import { EvsysError, messageOf, onAbort, startGuardedProcess } from '../../kernel/index.ts'
import type { AnswerPhase } from './answer-phase.ts'
import { lastLine } from './log-tail.ts'
import { RunFailure } from './run-failure.ts'
import { FromScorer, type ScorerStart, type ToScorer } from './scorer-protocol.ts'

export interface RunScore {
  readonly value: number
  readonly secondary: Metrics
}

const heapMb = 4096
const memoryMb = 8192
const printedCharacters = 8 * 1024 * 1024

/** Rejects with a RunFailure where the candidate is to blame, with another error where it is not. */
export async function scoreRun(
  start: ScorerStart,
  answers: AnswerPhase,
  seconds: { readonly answer: number; readonly scorer: number },
  signal: AbortSignal,
): Promise<RunScore> {
  signal.throwIfAborted()
  let settle: (outcome: { score: RunScore } | { cause: unknown }) => void = () => {}
  const settled = new Promise<{ score: RunScore } | { cause: unknown }>((resolve) => {
    settle = resolve
  })
  let printed = 0
  let hasRead = false // from then on it works on what the candidate left
  const scorer = startGuardedProcess({
    script: new URL(`./scorer-child${extname(import.meta.url)}`, import.meta.url),
    start,
    heapMb,
    memoryMb,
    messageMb: 1024,
    onPrinted(text) {
      printed += text.length
      return printed <= printedCharacters
    },
    onMessage(message) {
      const told = FromScorer.parse(message)
      if (told.type === 'ask') answer(told.ask, told.question)
      else if (told.type === 'read') hasRead = true
      else if (told.type === 'scored') settle({ score: { value: told.value, secondary: finite(told.secondary) } })
      else settle({ cause: failed(told) })
    },
  })
  const answer = (ask: number, question: unknown) => {
    answers
      .ask(question)
      .then((each) => scorer.send({ ask, answer: textOf(each) } satisfies ToScorer))
      .catch((cause: unknown) => settle({ cause }))
  }
  const late = () => {
    const whole = Math.round(seconds.scorer + seconds.answer)
    if (answers.isAsked)
      settle({ cause: new RunFailure('timeout', `the answers took more than ${Math.round(seconds.answer)} s`) })
    else if (hasRead)
      settle({ cause: new RunFailure('timeout', `the scorer took more than ${whole} s for what the candidate left`) })
    else settle({ cause: infra(`the scorer took more than ${whole} s`) })
  }
  const deadline = setTimeout(late, (seconds.answer + seconds.scorer) * 1000)
  const quiet = onAbort(signal, () => settle({ cause: signal.reason }))
  const ended = scorer.ended.then((end) => {
    const how = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`
    const told = lastLine(end.printed)
    const reason = `the scorer ended with ${how}${told === '' ? '' : `; it printed last: ${told}`}`
    settle({
      cause: hasRead ? new RunFailure('crash', `${reason}, while it read what the candidate left`) : infra(reason),
    })
  })
  try {
    const outcome = await settled
    if ('cause' in outcome) throw outcome.cause
    if (!Number.isFinite(outcome.score.value))
      throw new RunFailure('divergence', `the score is ${outcome.score.value}: the model answers no numbers`)
    return outcome.score
  } finally {
    clearTimeout(deadline)
    quiet()
    scorer.stop('closed')
    await ended
  }
}

// What is nested deeper than anyone reads is told apart from a fault of ours.
function textOf(answer: unknown): string {
  try {
    return JSON.stringify(answer) ?? 'null'
  } catch (cause) {
    throw new RunFailure('validation', `an answer cannot be handed on: ${messageOf(cause)}`)
  }
}

function failed({ whose, message }: { whose: 'candidate' | 'scorer'; message: string }): Error {
  return whose === 'candidate'
    ? new RunFailure('validation', `the scorer turned it down: ${message}`)
    : infra(`the scorer failed: ${message}`)
}

function infra(message: string): EvsysError {
  return new EvsysError('VERIFIER_FAILED', message, { fix: 'look at the scorer of the task and at its data.' })
}

const finite = (values: Readonly<Record<string, number>>): Metrics =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => Number.isFinite(value)))
