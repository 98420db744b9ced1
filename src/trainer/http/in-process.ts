// Requests and responses of a client in the same process. Those of the web clone their signals and stream their bodies, which costs
// more than a step of a small model; these have the few fields that the trainer and its client read.
import { Buffer } from 'node:buffer'

export type PlainHeaders = Pick<Headers, 'get'>

/** A response whose body is there already. On its way to a socket it becomes one of the web. */
export class PlainResponse {
  readonly status: number
  readonly headers: PlainHeaders
  readonly body: readonly [Uint8Array<ArrayBuffer>]
  readonly #headers: Readonly<Record<string, string>>

  constructor(bytes: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>, status = 200) {
    this.status = status
    this.body = [bytes]
    this.#headers = headers
    this.headers = plainHeaders(headers)
  }

  toResponse(): Response {
    return new Response(this.body[0], { status: this.status, headers: this.#headers })
  }
}

/** The answer of a route. The router passes on what it is given, so that its type is all that must fit. */
export function bytesResponse(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new PlainResponse(bytes, { 'content-type': type, ...headers }) as unknown as Response
}

export function jsonResponse(value: unknown, headers?: Readonly<Record<string, string>>): Response {
  return bytesResponse(Buffer.from(JSON.stringify(value)), 'application/json', headers)
}

/** What a client in this process asks, in the form that routes read. */
export function plainRequest(url: string, { method = 'GET', headers, body, signal }: RequestInit): Request {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const request = {
    url,
    method,
    headers: plainHeaders(headers as Record<string, string>), // our client gives them as a record, in lower case
    body: bytes == null ? null : [bytes],
    signal: signal ?? new AbortController().signal,
  }
  return request as unknown as Request // routes read these fields alone
}

function plainHeaders(record: Readonly<Record<string, string>> = {}): PlainHeaders {
  return { get: (name) => record[name.toLowerCase()] ?? null }
}
