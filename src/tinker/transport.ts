// One HTTP exchange: a request goes out, an answer or a connection error comes back. It knows no retry and no promise.
import { messageOf, onAbort } from '../kernel/index.ts'
import { ServiceError } from './service-error.ts'

/** What a transport needs of `fetch`: a server in the same process offers it too. */
export type Fetch = (url: string, init: RequestInit) => Promise<FetchResponse>

type FetchResponse = {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null
}

export type Exchange = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Appended to the base URL, `/api/v1/asample`. */
  path: string
  /** A JSON value, or bytes with their type. */
  json?: unknown
  bytes?: { data: Uint8Array<ArrayBuffer>; type: string; encoding?: string | undefined } | undefined
  headers?: Readonly<Record<string, string>> | undefined
  timeoutMs: number
  signal: AbortSignal
}

export type Answer = Pick<FetchResponse, 'status' | 'headers'> & { readonly bytes: Uint8Array }

export type Transport = { send(exchange: Exchange): Promise<Answer> }

type TransportOptions = {
  baseUrl: string
  /** Sent with every request; read anew each time, since credentials change. */
  headers: () => Readonly<Record<string, string>>
  /** Awaited before each request that brings no other credentials. */
  prepare?: (() => Promise<void>) | undefined
  fetch: Fetch
  /** False: every request is answered, as one within this process is, and nothing is timed. */
  timed?: boolean | undefined
}

// Far above any answer of the protocol; without a bound a peer could fill the memory.
const mostBytes = 2 ** 30

/** Exchanges with the service at `baseUrl`. Its own path is kept, and a slash at its end makes no difference. */
export function createTransport({ baseUrl, headers, prepare, fetch, timed = true }: TransportOptions): Transport {
  const base = baseUrl.replace(/\/+$/, '')
  return {
    async send({ method, path, json, bytes, headers: own, timeoutMs, signal }) {
      const late = () =>
        new ServiceError('timeout', `${base}${path}: no answer in ${timeoutMs} ms`, { retryable: true, fix: reachFix })
      const linked = timed ? linkSignals([signal], { timeoutMs, late }) : { signal, release() {} }
      const body = bytes?.data ?? (json === undefined ? undefined : JSON.stringify(json))
      try {
        linked.signal.throwIfAborted()
        if (prepare !== undefined && own?.['x-api-key'] === undefined) await prepare()
        const response = await fetch(`${base}${path}`, {
          method,
          headers: {
            accept: 'application/json',
            ...(body !== undefined && { 'content-type': bytes?.type ?? 'application/json' }),
            ...(bytes?.encoding !== undefined && { 'content-encoding': bytes.encoding }),
            ...headers(),
            ...own,
          },
          redirect: 'manual',
          signal: linked.signal,
          body: body ?? null,
        })
        return { status: response.status, headers: response.headers, bytes: await readBody(response, path) }
      } catch (cause) {
        signal.throwIfAborted()
        if (linked.signal.aborted) throw linked.signal.reason
        if (cause instanceof ServiceError) throw cause
        const reason = cause instanceof TypeError && cause.cause !== undefined ? cause.cause : cause
        throw new ServiceError('connection', `${base}${path}: ${reasonText(reason)}`, {
          retryable: true,
          fix: reachFix,
          cause,
        })
      } finally {
        linked.release()
      }
    },
  }
}

const reachFix =
  'see that the training service runs (`evsys serve` starts one) and that its address is right: base_url in the params, or TINKER_BASE_URL.'

// A host with several addresses fails with one error for each, and no words of its own.
function reasonText(reason: unknown): string {
  const tried = reason instanceof AggregateError ? reason.errors.map(messageOf) : []
  return tried.length === 0 ? messageOf(reason) : tried.join('; ')
}

async function readBody(response: FetchResponse, path: string): Promise<Uint8Array> {
  const announced = Number(response.headers.get('content-length') ?? 0)
  if (announced > mostBytes) throw new ServiceError('protocol', `${path}: an answer of ${announced} bytes is too large`)
  if (response.body === null) return new Uint8Array()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body) {
    size += part.length
    if (size > mostBytes)
      throw new ServiceError('protocol', `${path}: an answer of over ${mostBytes} bytes is too large`)
    parts.push(part)
  }
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, size)
}

// One signal out of several, and a time limit; released when the call ends, since the signals it listens to live for hours.
type LinkedSignal = { readonly signal: AbortSignal; release(): void }

/** Aborts with the first of `signals`, or with `late()` after `timeoutMs`. */
export function linkSignals(
  signals: readonly (AbortSignal | undefined)[],
  limit?: { timeoutMs: number; late: () => unknown },
): LinkedSignal {
  const controller = new AbortController()
  const timer = limit === undefined ? undefined : setTimeout(() => controller.abort(limit.late()), limit.timeoutMs)
  const stops = signals.map((signal) =>
    signal === undefined ? () => {} : onAbort(signal, () => controller.abort(signal.reason)),
  )
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer)
      for (const stop of stops) stop()
    },
  }
}
