// Answers other than success, in the form that clients of this protocol know: `{"detail": ...}`.
import { EvsysError, messageOf, systemCode } from '../../kernel/index.ts'

/** A place in a request: `['body', 'data', 3]`. */
export type Loc = readonly (string | number)[]
export type Fault = { readonly type: string; readonly loc: Loc; readonly msg: string }

export class HttpError extends Error {
  readonly status: number
  readonly detail: string | readonly Fault[]

  constructor(status: number, detail: string | readonly Fault[]) {
    super(typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '))
    this.name = 'HttpError'
    this.status = status
    this.detail = detail
  }
}

/** A value of the request that cannot be used. */
export function unprocessable(loc: Loc, msg: string, type = 'value_error'): HttpError {
  return new HttpError(422, [{ type, loc, msg }])
}

export function notFound(what: string): HttpError {
  return new HttpError(404, what)
}

/** What went wrong, for a client. Faults of ours keep their details to themselves. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (EvsysError.is(error) && error.code === 'BACKEND_REFUSED') return unprocessable(['body'], wordsOf(error))
  return new HttpError(500, publicWords(error))
}

/** A fault of this side whose message may name its files: clients learn no more than its kind. */
export function isHidden(error: unknown): boolean {
  return !(error instanceof HttpError) && !(EvsysError.is(error) && error.code.startsWith('BACKEND_'))
}

/** What clients learn of an error. */
export function publicWords(error: unknown): string {
  if (!isHidden(error)) return wordsOf(error)
  if (!EvsysError.is(error) || error.code !== 'FILE_FAILED') return 'the trainer failed'
  const code = systemCode(error.cause)
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the trainer cannot write: no space is left on its disk'
  return `the trainer cannot use its files${code === undefined ? '' : ` (${code})`}`
}

/** An error in one line: what failed, then what to do. */
export function wordsOf(error: unknown): string {
  return EvsysError.is(error) && error.fix !== undefined ? `${error.message}: ${error.fix}` : messageOf(error)
}

export function errorResponse(error: unknown): Response {
  const { status, detail } = toHttpError(error)
  // A conflict stays one: clients that repeat it for minutes would only hold up what comes after.
  const headers: Record<string, string> =
    status === 409 ? { 'x-should-retry': 'false' } : status === 429 ? { 'retry-after': '1' } : {}
  return Response.json({ detail }, { status, headers })
}
