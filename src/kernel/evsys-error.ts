// The one error class: a code for machines, words for people, a place and a fix. It may carry many problems at once, so
// that a file with twelve mistakes is reported in one go. It does not know how errors are printed.

import { inspect } from 'node:util'
import { type ErrorCode, ErrorRecord, type LeakPair, type Location } from '../contracts/index.ts'

/**
 * Source text to show under a problem. `text` is the line at `line`, and maybe the lines after it; `col` (1-based) and
 * `length` mark the wrong part of its first line, in UTF-16 units.
 */
export type Excerpt = { text: string; line: number; col: number; length: number }

/** One thing that is wrong: the record that is stored and printed as JSON, and the source text for human eyes. */
export type Problem = ErrorRecord & { excerpt?: Excerpt | undefined }

export type EvsysErrorOptions = {
  where?: Location | undefined
  fix?: string | undefined
  cause?: unknown
  /** The same call may succeed later. Read by `retry`, which is used by transports only. */
  retryable?: boolean | undefined
  /** How long the peer asked us to wait before the next attempt. */
  retryAfterMs?: number | undefined
  excerpt?: Excerpt | undefined
}

// A registered symbol is shared by every copy of this module, `instanceof` is not.
const brand = Symbol.for('evsys.error')

/** An error that says what failed, where, and how to fix it. */
export class EvsysError extends Error {
  readonly code: ErrorCode
  readonly where: Location | undefined
  readonly fix: string | undefined
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  /** Everything that is wrong, in the order to report it; a plain error is its own only problem. */
  readonly problems: readonly Problem[]

  constructor(code: ErrorCode, message: string, options: EvsysErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.where = options.where
    this.fix = options.fix
    this.retryable = options.retryable ?? false
    this.retryAfterMs = options.retryAfterMs
    this.problems = Object.freeze([{ code, message, ...details(options) }])
    // Not enumerable: neither printed nor copied, yet found on errors of every copy.
    Object.defineProperty(this, brand, { value: true })
  }

  static {
    Object.defineProperty(EvsysError.prototype, 'name', { value: 'EvsysError', configurable: true, writable: true })
  }

  /** Recognises our errors by their brand, also those thrown by another copy of evsys. */
  static is(error: unknown): error is EvsysError {
    try {
      return typeof error === 'object' && error !== null && Reflect.get(error, brand) === true
    } catch {
      return false // a proxy or getter that throws is no error of ours
    }
  }

  /** One error for all of `problems`; code, place and fix are those of the first. */
  static many(problems: readonly (Problem | EvsysError)[], options: { cause?: unknown } = {}): EvsysError {
    const all = problems.flatMap((each) => (EvsysError.is(each) ? each.problems : [each]))
    const [first] = all
    if (first === undefined) throw new TypeError('EvsysError.many needs at least one problem')
    const rest = all.length - 1
    const message = rest === 0 ? first.message : `${first.message} (and ${rest} more problem${rest === 1 ? '' : 's'})`
    const error = new EvsysError(first.code, message, { ...details(first), ...options })
    Object.defineProperty(error, 'problems', {
      value: Object.freeze(all.map((each) => ({ ...each }))),
      enumerable: true,
    })
    return error
  }

  /** This error as data; of an error with many problems, its first. */
  toRecord(): ErrorRecord {
    const [first] = this.problems
    return first === undefined ? { code: this.code, message: this.message } : toRecord(first)
  }
}

/** A problem as `--json` prints it and as the record stores it: without the source text. */
export function toRecord({ code, message, where, fix, pairs }: Problem): ErrorRecord {
  return { code, message, ...details({ where, fix, pairs }) }
}

type Details = {
  where?: Location | undefined
  fix?: string | undefined
  pairs?: LeakPair[] | undefined
  excerpt?: Excerpt | undefined
}

// Absent fields are left out: they must not show up as keys in what is stored or sent.
function details({ where, fix, pairs, excerpt }: Details): Details {
  const found: Details = {}
  if (where !== undefined) found.where = { ...where }
  if (fix !== undefined) found.fix = fix
  if (pairs !== undefined) found.pairs = [...pairs]
  if (excerpt !== undefined) found.excerpt = { ...excerpt }
  return found
}

// The words of anything that was thrown: plugins and libraries throw strings, numbers, objects and errors alike.
// Long enough for a compiler's complaint, short enough that a dumped response body does not bury the fix below it.
const longest = 2_000

/** What was thrown, in words for people: never a stack trace, never empty, bounded in length. */
export function messageOf(cause: unknown): string {
  let text: string
  try {
    text = words(cause)
  } catch {
    text = 'a value was thrown that cannot be read' // a getter or proxy that throws itself
  }
  const clean = withoutStack(text).trim()
  if (clean === '') return 'no message was given'
  return clean.length <= longest ? clean : `${cut(clean)}... (${clean.length} characters)`
}

function words(cause: unknown): string {
  if (typeof cause === 'string') return cause
  if (typeof cause !== 'object' || cause === null) return `${inspect(cause)} was thrown`
  if (cause instanceof AggregateError && cause.errors.length > 0) return aggregate(cause)
  // Reflect.get: errors of other realms (vm, workers) are no instances of this Error.
  const message: unknown = Reflect.get(cause, 'message')
  if (typeof message === 'string' && message.trim() !== '') return message
  const name: unknown = Reflect.get(cause, 'name')
  if (typeof name === 'string' && name !== '') return name
  return `${inspect(cause, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 200, maxArrayLength: 10, customInspect: false })} was thrown`
}

// fetch and Promise.any put the reasons here and leave the message empty or general.
function aggregate(cause: AggregateError): string {
  const reasons = cause.errors.slice(0, 5).map((each) => (each instanceof AggregateError ? each.name : messageOf(each)))
  return [cause.message, [...new Set(reasons)].join('; ')].filter((part) => part !== '').join(': ')
}

function cut(text: string): string {
  return text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '') // not through the middle of a character
}

// Some libraries put a whole stack into the message.
function withoutStack(text: string): string {
  return text.replace(/^[ \t]{1,16}at (?:[^\n]*\([^\n]*\)|[^\n]*:\d+:\d+|<anonymous>|native)[ \t\r]*(?:\n|$)/gm, '')
}

// From anything that was thrown to what is printed and stored. It never throws: it runs where errors end.
/** The problems that `error` reports. What is not an `EvsysError` becomes one `INTERNAL` problem with its message. */
export function problemsOf(error: unknown): [Problem, ...Problem[]] {
  if (!EvsysError.is(error)) return [internal(error)]
  try {
    // The brand may be on an error of another version of evsys, or on a plugin's object: its fields are checked.
    const [first = internal(error), ...others] = Array.from(error.problems, checked)
    return [first, ...others]
  } catch {
    return [internal(error)]
  }
}

/** What was thrown, as the record stores it; of several problems, the first. */
export function errorRecord(error: unknown): ErrorRecord {
  return toRecord(problemsOf(error)[0])
}

function checked(problem: Problem): Problem {
  const { code, message, where, fix, pairs, excerpt } = problem
  const record = ErrorRecord.safeParse({ code, message, where, fix, pairs })
  if (!record.success) return internal(problem)
  const kept: Problem = record.data
  return isExcerpt(excerpt) ? { ...kept, excerpt } : kept
}

function isExcerpt(value: unknown): value is Excerpt {
  if (typeof value !== 'object' || value === null) return false
  const { text, line, col, length } = value as Partial<Record<keyof Excerpt, unknown>> // every field is tested below
  return typeof text === 'string' && [line, col, length].every((each) => Number.isSafeInteger(each))
}

function internal(error: unknown): Problem {
  return { code: 'INTERNAL', message: messageOf(error) }
}

// Where foreign code is called: whatever it throws leaves as one of our errors, named after the boundary it crossed.
/** Runs `work` and turns what it throws into an `EvsysError` with `code`, saying `what` failed. */
export async function boundary<T>(
  code: ErrorCode,
  what: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (signal.aborted || EvsysError.is(cause)) throw cause // the caller cancelled: not a failure
    throw new EvsysError(code, `${what}: ${messageOf(cause)}`, { cause })
  }
}
