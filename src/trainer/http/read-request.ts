// Bodies of requests: bounded, unpacked, parsed, checked. Whatever is wrong is the client's fault and says where.
import { Buffer } from 'node:buffer'
import type * as z from 'zod'
import { checkValue, sha256, unpackZstd, ZstdFault } from '../../kernel/index.ts'
import { type Fault, HttpError, unprocessable } from './http-error.ts'

/** A body's bytes and their hash, by which a repeated request is known. */
export type RawBody = { readonly bytes: Uint8Array; readonly hash: () => string; readonly isProtobuf: boolean }

/** Counts bytes of a body as they arrive, and after unpacking; throws where there are too many at once. */
type Take = (bytes: number) => void

/** Reads a body of at most so many bytes, also after unpacking. */
export async function readBody(request: Request, maxBytes: number, take: Take = () => {}): Promise<RawBody> {
  const sent = await readBytes(request, maxBytes, take)
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity' && encoding !== 'zstd') throw new HttpError(415, `no encoding is called ${encoding}`)
  const bytes = encoding === 'zstd' ? unpack(sent, maxBytes) : sent
  if (bytes !== sent) take(bytes.length)
  const type = request.headers.get('content-type') ?? ''
  const isProtobuf = /^application\/(x-)?protobuf\b/.test(type)
  // Computed when it is read: half of all requests are polls, which repeat without harm.
  return { bytes, isProtobuf, hash: () => sha256(bytes) }
}

const utf8 = new TextDecoder() // kept: making one takes longer than reading a small body

/** The JSON value of a body; an empty one is an empty object. */
export function readJson({ bytes }: Pick<RawBody, 'bytes'>, maxBytes: number): unknown {
  if (bytes.length > maxBytes) {
    throw new HttpError(413, `JSON of more than ${maxBytes} bytes is not read: send fewer data at once, or protobuf`)
  }
  checkParts(bytes)
  const text = utf8.decode(bytes)
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw unprocessable(['body'], 'the body is no JSON', 'json_invalid')
  }
}

const mostParts = 1_000_000
// What `{`, `[` and `:` stand for takes a hundred times the two bytes in which it may be written.
function checkParts(bytes: Uint8Array): void {
  if (bytes.length <= mostParts) return
  let parts = 0
  for (const byte of bytes) if (byte === 0x7b || byte === 0x5b || byte === 0x3a) parts++
  if (parts > mostParts)
    throw new HttpError(413, `JSON of more than ${mostParts} parts is not read: send fewer data at once`)
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

async function readBytes(request: Request, maxBytes: number, take: Take): Promise<Uint8Array> {
  const tooLarge = () => new HttpError(413, `the body is larger than ${maxBytes} bytes: send fewer data at once`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  if (request.body === null) return new Uint8Array()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body) {
    size += part.length
    if (size > maxBytes) throw tooLarge()
    take(part.length)
    parts.push(part)
  }
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}

function unpack(packed: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return unpackZstd(packed, maxBytes)
  } catch (error) {
    if (error instanceof ZstdFault) throw new HttpError(error.isTooLarge ? 413 : 400, `the body: ${error.message}`)
    throw error
  }
}
