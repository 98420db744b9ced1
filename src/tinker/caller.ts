// The one layer that tries again. A call is sent until it is answered, refused for good, or its time is used up; nothing
// above repeats it, apart from samples whose promise was lost, which are new requests.

import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import * as tinker from '../contracts/tinker/index.ts'
import { type Clock, retry, systemRandom } from '../kernel/index.ts'
import type { OnTinkerEvent } from './client-events.ts'
import type { ConnectionWatch } from './connection-watch.ts'
import { ServiceError, textOfError } from './service-error.ts'
import type { Answer, Exchange, Transport } from './transport.ts'

export type Call = Omit<Exchange, 'timeoutMs' | 'signal'> & {
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
  /** `off`: one attempt. Default: for as long as the client allows. */
  retry?: 'off' | undefined
  /** Repeats it for a shorter time than the client allows. */
  retryForMs?: number | undefined
  /** Statuses that are answers and not errors. */
  accept?: readonly number[] | undefined
  /** Statuses that may go away, besides the usual ones. */
  retryStatus?: readonly number[] | undefined
}

/** Work that the service took. `first` answers the first poll for its result: a service in this process sends it along. */
export type Accepted = { readonly requestId: string; readonly first?: Answer | undefined }

export type Caller = {
  /** The answer, whatever its body. */
  answer(call: Call): Promise<Answer>
  /** Sends work; the id of its result, and the result itself where it was there at once. */
  submit(call: Call): Promise<Accepted>
  /** The body, read with a schema. */
  json<S extends z.ZodType>(call: Call, schema: S): Promise<z.output<S>>
  /** A call whose answer says nothing. */
  done(call: Call): Promise<void>
}

type CallerOptions = {
  transport: Transport
  signal: AbortSignal
  clock: Clock
  onEvent: OnTinkerEvent
  random?: { float(): number } | undefined
  /** How long a call is repeated. Default five minutes. */
  retryForMs?: number | undefined
  /** How long a stop for billing is waited out. */
  billingPauseMs: () => number
  /** Asks for results together with the acceptance of the work. */
  wantsResults?: boolean | undefined
  connection: ConnectionWatch
}

const defaultTimeoutMs = 60_000
export const defaultRetryForMs = 300_000
const billingWaitMs = 5000
const wantsResult = { prefer: tinker.wantsResult, accept: 'application/x-protobuf, application/json' }

export function createCaller(options: CallerOptions): Caller {
  const {
    transport,
    clock,
    onEvent,
    random = systemRandom,
    retryForMs = defaultRetryForMs,
    billingPauseMs,
    connection,
  } = options

  const answer = async (call: Call): Promise<Answer> => {
    const { timeoutMs = defaultTimeoutMs, signal = options.signal, retryForMs: ownMs = retryForMs } = call
    const { retry: mode, accept, retryStatus, method, path, json, bytes, headers } = call
    const once = async () => {
      const reply = await transport.send({ method, path, json, bytes, headers, timeoutMs, signal })
      if ((reply.status >= 200 && reply.status < 300) || accept?.includes(reply.status)) return reply
      throw errorOf(path, reply, retryStatus)
    }
    const startedMs = clock.now()
    let pausedSinceMs: number | undefined
    const mayGoAway = (error: unknown): boolean => {
      if (!(error instanceof ServiceError) || !error.retryable) return false
      if (error.status === 402) {
        pausedSinceMs ??= clock.now()
        return clock.now() - pausedSinceMs < billingPauseMs()
      }
      const isSilent = error.kind === 'connection' || error.kind === 'timeout'
      const patienceMs = isSilent ? connection.patienceMs() : retryForMs
      return clock.now() - startedMs < Math.min(ownMs, patienceMs)
    }
    let failed: unknown
    try {
      return await once()
    } catch (error) {
      if (mode === 'off' || !mayGoAway(error)) throw error
      failed = error
    }
    // Nearly every call succeeds at once and needs nothing of this: the first attempt was the one above.
    const again = (attempt: number) => (attempt === 1 ? Promise.reject(failed) : once())
    return retry(again, {
      signal,
      clock,
      random,
      attempts: Number.POSITIVE_INFINITY,
      baseMs: 500,
      maxMs: connection.isReached() ? undefined : 1000,
      retryable: mayGoAway,
      onRetry: ({ waitMs, error }) =>
        onEvent({ type: 'retry', path, waitMs, message: error instanceof Error ? error.message : '' }),
    })
  }

  return {
    answer,
    async submit(call) {
      const { wantsResults = false } = options
      const reply = await answer(wantsResults ? { ...call, headers: wantsResult } : call)
      const requestId = wantsResults ? reply.headers.get(tinker.requestIdHeader) : null
      if (requestId !== null) return { requestId, first: reply }
      return { requestId: parseBody(call.path, reply.bytes, tinker.UntypedFuture).request_id }
    },
    async json(call, schema) {
      const { bytes } = await answer(call)
      return parseBody(call.path, bytes, schema)
    },
    async done(call) {
      await answer(call)
    },
  }
}

const utf8 = new TextDecoder() // kept: making one takes longer than reading a small body

export function readJson(bytes: Uint8Array): unknown {
  return JSON.parse(utf8.decode(bytes))
}

/** A body as the schema wants it; anything else is an answer that makes no sense. */
export function parseBody<S extends z.ZodType>(path: string, bytes: Uint8Array, schema: S): z.output<S> {
  let body: unknown
  try {
    body = readJson(bytes)
  } catch (cause) {
    throw new ServiceError('protocol', `${path}: the answer is not JSON`, { serverText: textOfError(bytes), cause })
  }
  return parseValue(path, body, schema)
}

export function parseValue<S extends z.ZodType>(path: string, body: unknown, schema: S): z.output<S> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`
  throw new ServiceError('protocol', `${path}: the answer${where} is not as expected: ${issue?.message ?? ''}`)
}

export function errorOf(
  path: string,
  { status, headers, bytes }: Answer,
  retryStatus?: readonly number[],
): ServiceError {
  // A proxy that lost its connection says so with an empty 400.
  if (status === 400 && headers.get('content-length') === '0') {
    return new ServiceError('connection', `${path}: the connection was reset`, { status, retryable: true })
  }
  const serverText = textOfError(bytes)
  const askedMs = status === 402 ? billingWaitMs : retryAfterMs(headers)
  return new ServiceError('status', `${path}: ${status}${serverText === '' ? '' : ` ${serverText}`}`, {
    status,
    serverText,
    retryable: isTransient(status, headers, retryStatus),
    retryAfterMs: askedMs,
    fix: status === 401 || status === 403 ? 'check the API key.' : undefined,
  })
}

// 409 is not among them: a repeated request is answered with its first promise, so a conflict is a real one and waiting for it
// to go away would hold up everything behind it.
function isTransient(status: number, headers: Answer['headers'], retryStatus: readonly number[] = []): boolean {
  const asked = headers.get('x-should-retry')
  if (asked === 'true') return true
  if (asked === 'false') return false
  return [402, 408, 429].includes(status) || status >= 500 || retryStatus.includes(status)
}

function retryAfterMs(headers: Answer['headers']): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  const text = headers.get('retry-after') ?? ''
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  const asked = Number.isFinite(milliseconds) ? milliseconds : seconds
  return asked > 0 && asked <= 60_000 ? asked : undefined
}

/** Gives each call one key, the same for each time it is sent. */
export function idempotentCaller(caller: Caller): Caller {
  const keyed = <C extends Parameters<Caller['answer']>[0]>(call: C): C =>
    call.method === 'GET' ? call : { ...call, headers: { 'x-idempotency-key': randomUUID(), ...call.headers } }
  return {
    answer: (call) => caller.answer(keyed(call)),
    submit: (call) => caller.submit(keyed(call)),
    json: (call, schema) => caller.json(keyed(call), schema),
    done: (call) => caller.done(keyed(call)),
  }
}
