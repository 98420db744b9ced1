// The one error class: a code for machines, words for people, a place and a fix. It may carry many problems at once, so
// that a file with twelve mistakes is reported in one go. It does not know how errors are printed.
import type { ErrorCode, ErrorRecord, Location } from '../contracts/index.ts'

/**
 * Source text to show under a problem. `text` is the line at `line`, and maybe the lines after it; `col` (1-based) and
 * `length` mark the wrong part of its first line, in UTF-16 units.
 */
export type Excerpt = { text: string; line: number; col: number; length: number }

/** One thing that is wrong: the record that is stored and printed as JSON, and the source text for human eyes. */
export type Problem = ErrorRecord & { excerpt?: Excerpt }

export type EvsysErrorOptions = {
  where?: Location
  fix?: string
  cause?: unknown
  /** The same call may succeed later. Read by `retry`, which is used by transports only. */
  retryable?: boolean
  /** How long the peer asked us to wait before the next attempt. */
  retryAfterMs?: number
  excerpt?: Excerpt
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
      return false // a proxy or getter that throws is nobody's error of ours
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
export function toRecord({ code, message, where, fix }: Problem): ErrorRecord {
  return { code, message, ...details({ where, fix }) }
}

type Details = { where?: Location | undefined; fix?: string | undefined; excerpt?: Excerpt | undefined }

// Absent fields are left out: they must not show up as keys in what is stored.
function details({ where, fix, excerpt }: Details) {
  return {
    ...(where === undefined ? {} : { where: { ...where } }),
    ...(fix === undefined ? {} : { fix }),
    ...(excerpt === undefined ? {} : { excerpt: { ...excerpt } }),
  }
}
