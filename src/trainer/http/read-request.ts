// Bodies of requests: bounded, unpacked, parsed, checked. Whatever is wrong is the client's fault and says where.
import { Buffer } from 'node:buffer'
import { createHash, timingSafeEqual } from 'node:crypto'
import { Decompress } from 'fzstd'
import type * as z from 'zod'
import { checkValue, sha256 } from '../../kernel/index.ts'
import { type Fault, HttpError, unprocessable } from './http-error.ts'

/** A body's bytes and their hash, by which a repeated request is known. */
export type RawBody = { readonly bytes: Uint8Array; readonly hash: () => string; readonly isProtobuf: boolean }

/** Reads a body of at most so many bytes, also after unpacking. */
export async function readBody(request: Request, maxBytes: number): Promise<RawBody> {
  const sent = await readBytes(request, maxBytes)
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity' && encoding !== 'zstd') throw new HttpError(415, `no encoding is called ${encoding}`)
  const bytes = encoding === 'zstd' ? unpack(sent, maxBytes) : sent
  const type = request.headers.get('content-type') ?? ''
  const isProtobuf = /^application\/(x-)?protobuf\b/.test(type)
  // Computed when it is read: half of all requests are polls, which repeat without harm.
  return { bytes, isProtobuf, hash: () => sha256(bytes) }
}

const utf8 = new TextDecoder() // kept: making one takes longer than reading a small body

/** The JSON value of a body; an empty one is an empty object. */
export function readJson({ bytes }: Pick<RawBody, 'bytes'>): unknown {
  const text = utf8.decode(bytes)
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw unprocessable(['body'], 'the body is no JSON', 'json_invalid')
  }
}

/** A value as its schema gives it; `where` is the part of the request it comes from. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, where: 'body' | 'query'): z.output<S> {
  const result = checkValue(schema, value)
  if (result.ok) return result.value
  const faults = result.issues.map(
    ({ path, message }): Fault => ({ type: 'value_error', loc: [where, ...path], msg: message }),
  )
  throw new HttpError(422, faults)
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new HttpError(413, `the body is larger than ${maxBytes} bytes: send fewer data at once`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  if (request.body === null) return new Uint8Array()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body) {
    size += part.length
    if (size > maxBytes) throw tooLarge()
    parts.push(part)
  }
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}

// In small pieces: a few bytes can stand for gigabytes, and the bound must be felt before they exist.
const pieceBytes = 16_384

function unpack(packed: Uint8Array, maxBytes: number): Uint8Array {
  const parts: Uint8Array[] = []
  let size = 0
  let isComplete = false
  try {
    const stream = new Decompress((part, isLast) => {
      size += part.length
      if (size > maxBytes) throw new HttpError(413, `the body unpacks to more than ${maxBytes} bytes`)
      parts.push(Uint8Array.from(part))
      isComplete ||= isLast === true
    })
    for (let at = 0; at < packed.length; at += pieceBytes) {
      stream.push(packed.subarray(at, at + pieceBytes), at + pieceBytes >= packed.length)
    }
  } catch (error) {
    if (error instanceof HttpError) throw error
    throw new HttpError(400, 'the body is no zstd stream')
  }
  if (!isComplete) throw new HttpError(400, 'the body is no whole zstd stream')
  return Buffer.concat(parts)
}

// Keys are compared by their hashes in constant time, so that the time of an answer reveals nothing about them.
/** Refuses a request without a valid key. Without configured keys none is needed, and pages of other sites are refused. */
export function createKeyCheck(keys: readonly string[]) {
  const known = keys.map(digest)
  return (request: Request, { bearer = false } = {}): void => {
    if (known.length === 0) {
      refuseOtherSites(request)
      return
    }
    const key = keyOf(request, bearer)
    if (key === undefined || key === '') {
      throw new HttpError(401, `send an API key in ${bearer ? 'Authorization: Bearer or ' : ''}X-API-Key`)
    }
    if (!isKnown(digest(key), known)) throw new HttpError(401, 'the API key is unknown')
  }
}

const ofThisMachine = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

// A browser sends what any page asks it to: without a key, its page (Origin) and its address (Host, against rebound names) decide.
function refuseOtherSites({ headers }: Request): void {
  for (const name of ['origin', 'host']) {
    const value = headers.get(name)
    if (value !== null && !ofThisMachine.test(value))
      throw new HttpError(403, `${name} ${value} is not of this machine: set EVSYS_SERVE_KEYS and send one of the keys`)
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
