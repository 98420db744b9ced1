// The second phase: the same candidate, started again in a separate sandbox, answers questions one line each. Every
// question has an id that cannot be known before, so an answer that was prepared, copied or sent twice fits no question.
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import type { FailureClass, SandboxProcess } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'
import { LogTail, readLines } from './candidate-output.ts'
import { type CandidateSandbox, openCandidateSandbox, type PhaseOptions } from './candidate-sandbox.ts'
import { failureOf, RunFailure } from './run-failure.ts'

const Answer = z.looseObject({ id: z.string(), answer: z.unknown() })

interface Waiting {
  resolve(answer: unknown): void
  reject(cause: unknown): void
}

/** Questions to a candidate, and its answers. */
export class AnswerPhase implements AsyncDisposable {
  readonly #options: Omit<PhaseOptions, 'phase'>
  readonly #signal: AbortSignal
  readonly #log = new LogTail()
  readonly #waiting = new Map<string, Waiting>()
  #sandbox: CandidateSandbox | undefined
  #started: Promise<SandboxProcess> | undefined
  #followed: Promise<void> | undefined
  /** Why no question is answered any more. */
  #over: unknown
  /** Most memory that its processes held together; known once it is closed, where the machine reports it. */
  peakMemoryBytes: number | undefined

  constructor(options: Omit<PhaseOptions, 'phase'>, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  /** Whether a question waits for its answer. */
  get isAsked(): boolean {
    return this.#waiting.size > 0
  }

  /** The candidate's answer to one question; rejects with a RunFailure. The candidate is started by the first. */
  async ask(question: unknown): Promise<unknown> {
    this.#started ??= this.#start()
    const process = await this.#started
    if (this.#over !== undefined) throw this.#over
    this.#log.withhold()
    const id = randomBytes(16).toString('hex')
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      // One that has stopped reading ends at its deadline; one that has exited is noticed by `follow`.
      process
        .write(`${JSON.stringify({ id, question })}\n`)
        .catch((cause: unknown) => this.#log.add(`${messageOf(cause)}\n`))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end(new RunFailure('crash', 'the run is over', this.#log))
    const process = await this.#started?.catch(() => undefined)
    await process?.[Symbol.asyncDispose]()
    const ended = await process?.exit.catch(() => undefined) // one that was cancelled reports nothing
    this.peakMemoryBytes = ended?.peakMemoryBytes
    if (this.peakMemoryBytes !== undefined) this.#options.onPeak?.(this.peakMemoryBytes)
    await this.#followed
    await this.#sandbox?.[Symbol.asyncDispose]()
  }

  async #start(): Promise<SandboxProcess> {
    this.#sandbox = await openCandidateSandbox({ ...this.#options, phase: 'answer' })
    const timeoutMs = this.#options.limits.answerSeconds * 1000
    const process = await this.#sandbox.sandbox.spawn(this.#sandbox.spec(timeoutMs), this.#signal)
    this.#followed = this.#follow(process)
    return process
  }

  async #follow(process: SandboxProcess): Promise<void> {
    const { answerBytes, answerSeconds, memoryBytes, outputBytes } = this.#options.limits
    let printed = 0
    const onLog = (text: string) => {
      printed += text.length
      if (printed > outputBytes) this.#fail('validation', 'answering printed more than it may')
      this.#log.add(text)
    }
    const lines = readLines({
      longest: answerBytes,
      onMessage: (text) => this.#take(text),
      onLog,
      onLong: () => this.#fail('validation', `an answer is longer than ${answerBytes} bytes`),
    })
    try {
      for await (const { stream, text } of process.output) {
        if (stream === 'stdout') lines.read(text)
        else onLog(text)
        if (this.#over !== undefined) break
      }
      lines.finish()
      if (this.#over !== undefined) return
      const failure = failureOf('answering', await process.exit, this.#log, { seconds: answerSeconds, memoryBytes })
      if (failure === undefined) this.#fail('crash', 'the candidate ended before every question was answered')
      else this.#end(failure)
    } catch (cause) {
      this.#end(cause)
    }
  }

  #take(text: string): void {
    const answer = parseAnswer(text)
    const asker = 'id' in answer ? this.#waiting.get(answer.id) : undefined
    if (!('id' in answer)) this.#fail(answer.class, answer.reason)
    else if (asker === undefined)
      this.#fail('tamper', 'the candidate answered a question that does not wait for an answer')
    else {
      this.#waiting.delete(answer.id)
      asker.resolve(answer.answer)
    }
  }

  #fail(failureClass: FailureClass, reason: string): void {
    this.#end(new RunFailure(failureClass, reason, this.#log))
  }

  /** The first cause counts: all that wait are rejected with it. */
  #end(cause: unknown): void {
    this.#over ??= cause
    for (const each of this.#waiting.values()) each.reject(this.#over)
    this.#waiting.clear()
  }
}

function parseAnswer(text: string): z.infer<typeof Answer> | { readonly class: FailureClass; readonly reason: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return /[:[,]\s*-?(?:NaN|Infinity)\b/.test(text)
      ? { class: 'divergence', reason: 'an answer holds NaN or an infinity' }
      : { class: 'validation', reason: 'an answer is no JSON' }
  }
  const answer = Answer.safeParse(value)
  return answer.success ? answer.data : { class: 'validation', reason: 'an answer has no `id` and `answer`' }
}
