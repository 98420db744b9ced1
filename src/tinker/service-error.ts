// What went wrong between us and a training service, with what a person needs to find it again on the other side.
import type * as tinker from '../contracts/tinker/index.ts'
import { EvsysError, visibleText } from '../kernel/index.ts'

/**
 * How a call failed. `connection`, `timeout`: no answer came. `status`: an answer that is an error. `failed`: the work was
 * accepted and failed. `lost`: the service forgot the promise. `protocol`: an answer that makes no sense. `invalid`: never
 * sent. `broken`: the order of this model's requests cannot be kept any more. `deadline`: our own time was up.
 */
export type ServiceErrorKind =
  | 'connection'
  | 'timeout'
  | 'status'
  | 'failed'
  | 'lost'
  | 'protocol'
  | 'invalid'
  | 'broken'
  | 'deadline'

export type ServiceErrorDetails = {
  status?: number | undefined
  requestId?: string | undefined
  category?: tinker.ErrorCategory | undefined
  /** What the service said, without what cannot be printed. */
  serverText?: string | undefined
  /** Number of the request among those of its model. */
  seq?: number | undefined
  retryable?: boolean | undefined
  retryAfterMs?: number | undefined
  fix?: string | undefined
  cause?: unknown
}

/** An error of a training service. `BACKEND_REFUSED`: the request was wrong; `BACKEND_FAILED`: the service or the way to it. */
export class ServiceError extends EvsysError {
  readonly kind: ServiceErrorKind
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly category: tinker.ErrorCategory | undefined
  readonly serverText: string | undefined
  readonly seq: number | undefined

  constructor(kind: ServiceErrorKind, message: string, details: ServiceErrorDetails = {}) {
    super(isOurs(kind, details) ? 'BACKEND_REFUSED' : 'BACKEND_FAILED', message, details)
    this.kind = kind
    this.status = details.status
    this.requestId = details.requestId
    this.category = details.category
    this.serverText = details.serverText
    this.seq = details.seq
  }

  /** The same failure with what is known one level up. */
  with(details: Pick<ServiceErrorDetails, 'requestId' | 'seq'>): ServiceError {
    const { kind, message, status, category, serverText, fix, retryable, retryAfterMs, requestId, seq, cause } = this
    const known = { status, category, serverText, fix, retryable, retryAfterMs, requestId, seq, cause }
    return new ServiceError(kind, message, { ...known, ...details })
  }
}

function isOurs(kind: ServiceErrorKind, { status, category }: ServiceErrorDetails): boolean {
  if (kind === 'invalid') return true
  if (kind === 'failed') return category === 'user'
  return kind === 'status' && status !== undefined && [400, 404, 409, 413, 422].includes(status)
}

export function isServiceError(error: unknown): error is ServiceError {
  return EvsysError.is(error) && error instanceof ServiceError
}

const longestText = 2000

/** The words in the body of an error: `detail` as text or as a list of places, `error`, `message`, or the body itself. */
export function textOfError(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, longestText))
  return visibleText(wordsIn(parse(text)) ?? text).trim()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wordsIn(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  if (Array.isArray(body)) return body.map(place).join('; ')
  if (typeof body !== 'object' || body === null) return undefined
  for (const key of ['detail', 'error', 'message']) {
    const words: unknown = Reflect.get(body, key)
    if (words !== undefined) return wordsIn(words) ?? JSON.stringify(words)
  }
  return undefined
}

function place(problem: unknown): string {
  if (typeof problem !== 'object' || problem === null) return String(problem)
  const loc: unknown = Reflect.get(problem, 'loc')
  const msg: unknown = Reflect.get(problem, 'msg')
  const where = Array.isArray(loc) ? `${loc.join('.')}: ` : ''
  return typeof msg === 'string' ? `${where}${msg}` : JSON.stringify(problem)
}
