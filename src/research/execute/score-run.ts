// The score of one run, by the sealed scorer in a separate process.
import { extname } from 'node:path'
import type { Metrics } from '../../contracts/index.ts'
import { EvsysError, guardedProcess, howEnded, messageOf, openChild } from '../../kernel/index.ts'
import type { AnswerPhase } from './answer-phase.ts'
import { lastLine } from './candidate-output.ts'
import { RunFailure } from './run-failure.ts'
import { type ScorerStart, scorerProtocol } from './scorer-protocol.ts'

/** Who answers the questions of a scorer. */
export type Asked = Pick<AnswerPhase, 'ask' | 'isAsked'>

const heapMb = 4096
const memoryMb = 8192

/** Rejects with a RunFailure where the candidate is to blame, with another error where it is not. */
export async function scoreRun(
  start: ScorerStart,
  answers: Asked,
  seconds: { readonly answer: number; readonly scorer: number },
  signal: AbortSignal,
): Promise<{ readonly value: number; readonly secondary: Metrics }> {
  signal.throwIfAborted()
  let hasRead = false // from then on it works on what the candidate left
  let unanswered: { readonly cause: unknown } | undefined
  const scorer = openChild({
    protocol: scorerProtocol,
    start: guardedProcess({
      script: new URL(`./scorer-child${extname(import.meta.url)}`, import.meta.url),
      heapMb,
      memoryMb,
      messageMb: 1024,
    }),
    handlers: {
      read() {
        hasRead = true
      },
      async ask(question) {
        try {
          return textOf(await answers.ask(question))
        } catch (cause) {
          unanswered ??= { cause }
          scorer.stop('closed') // there is no score without an answer
          throw cause
        }
      },
    },
    deathOf(end) {
      if (unanswered !== undefined) return asError(unanswered.cause)
      if (end.stopped === 'silent') return lateError(seconds, answers.isAsked, hasRead)
      const last = lastLine(end.printed)
      const reason = `the scorer ended with ${howEnded(end)}${last === '' ? '' : `; it printed last: ${last}`}`
      return hasRead ? new RunFailure('crash', `${reason}, while it read what the candidate left`) : infra(reason)
    },
  })
  try {
    const timeoutMs = (seconds.answer + seconds.scorer) * 1000
    const scored = await scorer.call('score', start, { signal, onAbort: 'kill', timeoutMs })
    if ('whose' in scored) throw failed(scored)
    if (!Number.isFinite(scored.value))
      throw new RunFailure('divergence', `the score is ${scored.value}: the model answers no numbers`)
    return { value: scored.value, secondary: finite(scored.secondary) }
  } finally {
    await scorer.close()
  }
}

function lateError(
  { answer, scorer }: { readonly answer: number; readonly scorer: number },
  isAsked: boolean,
  hasRead: boolean,
): Error {
  const whole = Math.round(scorer + answer)
  if (isAsked) return new RunFailure('timeout', `the answers took more than ${Math.round(answer)} s`)
  if (hasRead) return new RunFailure('timeout', `the scorer took more than ${whole} s for what the candidate left`)
  return infra(`the scorer took more than ${whole} s`)
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(messageOf(cause)))

// What is nested deeper than anyone reads is no fault of ours.
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
