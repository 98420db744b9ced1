// Who may ask. Keys are compared by their hashes in constant time, so that an answer's time tells nothing about them.
import { createHash, timingSafeEqual } from 'node:crypto'
import { HttpError } from './http-error.ts'

/** Refuses a request without a valid key. Without configured keys every key of the right form is valid. */
export type KeyCheck = (request: Request, options?: { bearer?: boolean }) => void

export function createKeyCheck(keys: readonly string[]): KeyCheck {
  const known = keys.map(digest)
  return (request, { bearer = false } = {}) => {
    const key = keyOf(request, bearer)
    if (key === undefined || key === '') {
      throw new HttpError(401, `send an API key in ${bearer ? 'Authorization: Bearer or ' : ''}X-API-Key`)
    }
    // Official clients refuse to send anything else.
    const isValid = known.length === 0 ? /^tml-./.test(key) : isKnown(digest(key), known)
    if (isValid) return
    throw new HttpError(
      401,
      known.length === 0 ? 'any key that begins with tml- is valid here' : 'the API key is unknown',
    )
  }
}

function keyOf(request: Request, bearer: boolean): string | undefined {
  const own = request.headers.get('x-api-key') ?? undefined
  if (own !== undefined || !bearer) return own
  return /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
}

function isKnown(given: Buffer, known: readonly Buffer[]): boolean {
  let found = false
  for (const each of known) found = timingSafeEqual(given, each) || found
  return found
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
