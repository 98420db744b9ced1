// The second phase: the same candidate, started again in a sandbox of its own, answers questions one line each. Every
// question has an id that nobody could know before, so an answer that was prepared, copied or sent twice fits no question.
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import type { SandboxProcess } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'
import { readLines } from './candidate-lines.ts'
import { type CandidateSandbox, openCandidateSandbox, type PhaseOptions } from './candidate-sandbox.ts'
import { LogTail } from './log-tail.ts'
import { failureOf, RunFailure } from './run-failure.ts'

export interface AnswerPhase extends AsyncDisposable {
  /** The candidate's answer to one question; rejects with a RunFailure. The candidate is started by the first. */
  ask(question: unknown): Promise<unknown>
  /** Whether a question waits for its answer. */
  readonly isAsked: boolean
  /** Most memory that its processes held together; known once it is closed, where the machine tells. */
  readonly peakMemoryBytes: number | undefined
}

const Answer = z.looseObject({ id: z.string(), answer: z.unknown() })

interface Waiting {
  resolve(answer: unknown): void
  reject(cause: unknown): void
}

export function openAnswerPhase(options: Omit<PhaseOptions, 'phase'>, signal: AbortSignal): AnswerPhase {
  const { limits } = options
  const log = new LogTail()
  const waiting = new Map<string, Waiting>()
  let held: CandidateSandbox | undefined
  let started: Promise<SandboxProcess> | undefined
  let over: unknown // why no question is answered any more
  let followed: Promise<void> | undefined
  let peakMemoryBytes: number | undefined

  const end = (cause: unknown) => {
    over ??= cause
    for (const each of waiting.values()) each.reject(over)
    waiting.clear()
  }
  const take = (text: string) => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      const isNotFinite = /[:[,]\s*-?(?:NaN|Infinity)\b/.test(text)
      if (isNotFinite) return end(new RunFailure('divergence', 'an answer holds NaN or an infinity', log))
      return end(new RunFailure('validation', 'an answer is no JSON', log))
    }
    const answer = Answer.safeParse(value)
    if (!answer.success) return end(new RunFailure('validation', 'an answer has no `id` and `answer`', log))
    const asker = waiting.get(answer.data.id)
    if (asker === undefined)
      return end(new RunFailure('tamper', 'the candidate answered a question that does not wait for an answer', log))
    waiting.delete(answer.data.id)
    asker.resolve(answer.data.answer)
  }
  const follow = async (process: SandboxProcess) => {
    const tooLong = () => end(new RunFailure('validation', `an answer is longer than ${limits.answerBytes} bytes`, log))
    let printed = 0
    const onLog = (text: string) => {
      printed += text.length
      if (printed > limits.outputBytes) end(new RunFailure('validation', 'answering printed more than it may', log))
      log.add(text)
    }
    const lines = readLines({ longest: limits.answerBytes, onMessage: take, onLog, onLong: tooLong })
    try {
      for await (const { stream, text } of process.output) {
        if (stream === 'stdout') lines.read(text)
        else onLog(text)
        if (over !== undefined) break
      }
      lines.finish()
      if (over !== undefined) return
      const failure = failureOf('answering', await process.exit, log, {
        seconds: limits.answerSeconds,
        memoryBytes: limits.memoryBytes,
      })
      end(failure ?? new RunFailure('crash', 'the candidate ended before every question was answered', log))
    } catch (cause) {
      end(cause)
    }
  }
  const start = async (): Promise<SandboxProcess> => {
    held = await openCandidateSandbox({ ...options, phase: 'answer' })
    const process = await held.sandbox.spawn(held.spec(limits.answerSeconds * 1000), signal)
    followed = follow(process)
    return process
  }

  return {
    get isAsked() {
      return waiting.size > 0
    },
    get peakMemoryBytes() {
      return peakMemoryBytes
    },
    async ask(question) {
      started ??= start()
      const process = await started
      if (over !== undefined) throw over
      log.withhold()
      const id = randomBytes(16).toString('hex')
      return await new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        // One that has stopped reading ends at its time; one that has ended is told of by `follow`.
        process
          .write(`${JSON.stringify({ id, question })}\n`)
          .catch((cause: unknown) => log.add(`${messageOf(cause)}\n`))
      })
    },
    async [Symbol.asyncDispose]() {
      end(new RunFailure('crash', 'the run is over', log))
      const process = await started?.catch(() => undefined)
      await process?.[Symbol.asyncDispose]()
      const ended = await process?.exit.catch(() => undefined) // one that was cancelled tells nothing
      peakMemoryBytes = ended?.peakMemoryBytes
      if (peakMemoryBytes !== undefined) options.onPeak?.(peakMemoryBytes)
      await followed
      await held?.[Symbol.asyncDispose]()
    },
  }
}
