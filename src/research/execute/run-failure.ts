// Why a run of a candidate has no score. Thrown inside the executor, answered as data outside of it.
import type { AttemptFailure, ExecResult, FailureClass } from '../../contracts/index.ts'
import { visibleText } from '../../kernel/index.ts'
import type { LogTail } from './candidate-output.ts'

const longestReason = 1000

export class RunFailure extends Error {
  readonly failure: AttemptFailure

  constructor(failureClass: FailureClass, reason: string, log?: LogTail, more?: Pick<AttemptFailure, 'again'>) {
    super(reason)
    const text = visibleText(reason).slice(0, longestReason)
    this.failure = { class: failureClass, reason: text, ...log?.quoted(), ...more }
  }
}

/** Why a command that did not end with 0 failed; undefined: it ended well. `phase` is for people. */
export function failureOf(
  phase: string,
  result: ExecResult,
  log: LogTail,
  { seconds, memoryBytes }: { readonly seconds: number; readonly memoryBytes: number },
): RunFailure | undefined {
  const { exitCode, signal, limitHit } = result
  if (limitHit === 'timeoutMs')
    return new RunFailure('timeout', `${phase} took more than ${round(seconds)} s and was ended`, log)
  if (limitHit === 'memoryBytes')
    return new RunFailure('oom', `${phase} needed more memory than the ${gigabytes(memoryBytes)} it may use`, log)
  if (limitHit === 'diskBytes')
    return new RunFailure('validation', `${phase} wrote more files than it may: keep checkpoints small`, log)
  if (limitHit === 'processes') return new RunFailure('validation', `${phase} started more processes than it may`, log)
  if (limitHit === 'outputBytes') return new RunFailure('validation', `${phase} printed more than it may`, log)
  if (exitCode === 0) return undefined
  const how = signal === null ? `exit code ${exitCode}` : `signal ${signal}`
  const last = log.lastLine
  const reason = `${phase} ended with ${how}${last === '' ? '' : `; it printed last: ${last}`}`
  if (isOutOfMemory(log.raw)) {
    const held = result.peakMemoryBytes === undefined ? '' : `; it held ${gigabytes(result.peakMemoryBytes)}`
    return new RunFailure('oom', `${reason}${held} of the ${gigabytes(memoryBytes)} it may use`, log)
  }
  if (isFull(log.raw)) return new RunFailure('validation', `${reason}; it wrote more than it may`, log)
  return new RunFailure(isSyntax(log.raw) ? 'syntax' : 'crash', reason, log)
}

const isOutOfMemory = (text: string) =>
  /heap out of memory|^MemoryError|OutOfMemoryError|CUDA out of memory|Array buffer allocation failed|Cannot allocate memory|std::bad_alloc|DefaultCPUAllocator: can't allocate/m.test(
    text,
  )

// The system refuses the write that would be too much; the candidate may end by itself then.
const isFull = (text: string) => /\bEFBIG\b|^OSError: \[Errno 27\]|File too large/m.test(text)

const isSyntax = (text: string) => /^(?:SyntaxError|IndentationError|TabError)\b/m.test(text)

const gigabytes = (bytes: number) => `${Number((bytes / 1e9).toPrecision(2))} GB`

const round = (seconds: number) => Math.round(seconds * 10) / 10
