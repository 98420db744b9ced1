// The score of one run, by the sealed scorer in a separate process.
import { extname } from 'node:path'
import type { Metrics } from '../../contracts/index.ts'
import {
  announceWait,
  EvsysError,
  guardedProcess,
  howEnded,
  longWaits,
  messageOf,
  openChild,
} from '../../kernel/index.ts'
import type { AnswerPhase } from './answer-phase.ts'
import { lastLine } from './candidate-output.ts'
import { RunFailure } from './run-failure.ts'
import { type ScorerStart, scorerProtocol } from './scorer-protocol.ts'

/** Who answers the questions of a scorer. */
export type Asked = Pick<AnswerPhase, 'ask' | 'isAsked'>

const heapMb = 4096
const memoryMb = 8192

/**
 * Rejects with a RunFailure where the candidate is to blame, or the scorer hangs, with another error where something else is wrong.
 * `seconds`: for all answers of the candidate, and for the scorer itself, whose time stands still while it waits for an answer.
 */
export async function scoreRun(
  start: ScorerStart,
  answers: Asked,
  seconds: { readonly answer: number; readonly scorer: number },
  signal: AbortSignal,
): Promise<{
  readonly value: number
  readonly secondary: Metrics
  readonly items?: readonly number[] | 'fresh' | undefined
}> {
  signal.throwIfAborted()
  let hasRead = false // from then on it works on what the candidate left
  let unanswered: { readonly cause: unknown } | undefined
  const clock = scorerClock(seconds.scorer, () => scorer.stop('silent'))
  using _waiting = announceWait((passed) =>
    longWaits.publish(
      answers.isAsked
        ? `waiting for answers of the candidate: ${passed} s so far, at most ${Math.round(seconds.answer)} s`
        : `waiting for the scorer ${start.scorer}: ${passed} s so far, at most ${Math.round(seconds.scorer)} s`,
    ),
  )
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
          clock.stop()
          return textOf(await answers.ask(question))
        } catch (cause) {
          unanswered ??= { cause }
          scorer.stop('closed') // there is no score without an answer
          throw cause
        } finally {
          if (!answers.isAsked) clock.start()
        }
      },
    },
    deathOf(end) {
      if (unanswered !== undefined) return asError(unanswered.cause)
      if (end.stopped === 'silent') return lateError(start.scorer, seconds, { isAsked: answers.isAsked, hasRead })
      const last = lastLine(end.printed)
      const reason = `the scorer ended with ${howEnded(end)}${last === '' ? '' : `; it printed last: ${last}`}`
      return hasRead ? new RunFailure('crash', `${reason}, while it read what the candidate left`) : infra(reason)
    },
  })
  try {
    clock.start()
    const timeoutMs = (seconds.answer + seconds.scorer) * 1000
    const scored = await scorer.call('score', start, { signal, onAbort: 'kill', timeoutMs })
    if ('whose' in scored) throw failed(scored)
    if (!Number.isFinite(scored.value))
      throw new RunFailure('divergence', `the score is ${scored.value}: the model answers no numbers`)
    return { value: scored.value, secondary: finite(scored.secondary), items: itemsOf(scored) }
  } finally {
    clock.stop()
    await scorer.close()
  }
}

/** Time of the scorer alone. */
function scorerClock(seconds: number, onLate: () => void) {
  let leftMs = seconds * 1000
  let since = 0
  let timer: NodeJS.Timeout | undefined
  return {
    start() {
      since = performance.now()
      clearTimeout(timer)
      timer = setTimeout(onLate, Math.max(0, leftMs))
    },
    stop() {
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
      leftMs -= performance.now() - since
    },
  }
}

function lateError(
  script: string,
  { answer, scorer }: { readonly answer: number; readonly scorer: number },
  { isAsked, hasRead }: { readonly isAsked: boolean; readonly hasRead: boolean },
): Error {
  if (isAsked) return new RunFailure('timeout', `the answers took more than ${Math.round(answer)} s`)
  const took = `the scorer took more than ${Math.round(scorer)} s`
  if (hasRead) return new RunFailure('timeout', `${took} for what the candidate left`)
  const fix = 'look where it waits, or give it more with `limits: { scorer_seconds: ... }` of the task'
  return new RunFailure('infra', `${took} and was ended (${script}); ${fix}`, undefined, { again: false })
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

function infra(message: string, fix = 'look at the scorer of the task and at its data.'): EvsysError {
  return new EvsysError('VERIFIER_FAILED', message, { fix })
}

// Fewer say nothing of chance.
const fewestItems = 2
/** More are averaged in blocks of neighbours: enough to know the error by, and a journal that can be read. */
const mostItems = 2000
/** By how much the mean of the items may miss the score, as a share of it: they are added up in another order. */
const tolerance = 1e-6

function itemsOf({
  value,
  items,
}: {
  value: number
  items?: number[] | 'fresh' | undefined
}): readonly number[] | 'fresh' | undefined {
  if (items === 'fresh') return items
  if (items === undefined || items.length < fewestItems) return undefined
  const mean = items.reduce((sum, each) => sum + each / items.length, 0)
  const size = items.reduce((sum, each) => sum + Math.abs(each) / items.length, 0)
  if (!(Math.abs(mean - value) <= tolerance * Math.max(size, Math.abs(value))))
    throw infra(
      `the scorer gives ${items.length} items with a mean of ${mean}, and a score of ${value}`,
      'let `items` hold what each item adds to the score, so that their mean is `value`, or leave `items` out.',
    )
  return items.length <= mostItems ? items : inBlocks(items)
}

// Sizes of blocks differ by one at most.
function inBlocks(items: readonly number[]): number[] {
  return Array.from({ length: mostItems }, (_, i) => {
    const block = items.slice(
      Math.floor((i * items.length) / mostItems),
      Math.floor(((i + 1) * items.length) / mostItems),
    )
    return block.reduce((sum, each) => sum + each, 0) / block.length
  })
}

const finite = (values: Readonly<Record<string, number>>): Metrics =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => Number.isFinite(value)))
