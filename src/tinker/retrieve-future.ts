// Asking for the result of accepted work until it is there. The service holds each question for a while; we hardly wait between
// two of them.

import type * as z from 'zod'
import * as tinker from '../contracts/tinker/index.ts'
import { type Clock, messageOf, withoutUndefined } from '../kernel/index.ts'
import type { ByteBudget } from './byte-budget.ts'
import { type Accepted, errorOf, parseValue, readJson } from './caller.ts'
import { ServiceError, textOfError } from './service-error.ts'
import type { Answer, Transport } from './transport.ts'

/** What is asked for: its name on the wire, and how its answer is read. */
export type Expected<T> = {
  readonly requestType: string
  readonly json: (body: unknown) => T
  readonly protobuf?: ((bytes: Uint8Array) => T) | undefined
}

type RetrieveOptions = {
  transport: Transport
  clock: Clock
  signal: AbortSignal
  /** Bytes of large answers under way. */
  responses: ByteBudget
  onQueueState: (requestId: string, state: tinker.QueueState | 'unknown', reason?: string) => void
  /** How long acceptance took, which the service likes to know. */
  roundTripMs: number
  billingPauseMs: () => number
  /** How often a 400 is asked again: proxies make some up. A service that fails work that way has none. */
  badRequestRetries: number
  /** How long a service that does not answer is asked. */
  retryForMs: number
}

const path = '/api/v1/retrieve_future'
const pollTimeoutMs = 45_000
// A service that does not hold the question must not be asked as fast as the network allows.
const leastPollMs = 20

export async function retrieveFuture<T>(
  { requestId, first }: Accepted,
  expected: Expected<T>,
  options: RetrieveOptions,
): Promise<T> {
  const { transport, clock, signal, responses, onQueueState, billingPauseMs, badRequestRetries, retryForMs } = options
  let allowMetadataOnly = true
  let release = () => {}
  let failures = 0
  let badRequests = 0
  let pausedSinceMs: number | undefined
  let silentSinceMs: number | undefined

  const ask = (iteration: number) =>
    transport.send({
      method: 'POST',
      path,
      json: { request_id: requestId, allow_metadata_only: allowMetadataOnly },
      headers: withoutUndefined({
        accept: expected.protobuf === undefined ? undefined : 'application/x-protobuf, application/json',
        'x-tinker-request-iteration': String(iteration),
        'x-tinker-request-type': expected.requestType,
        'x-tinker-create-promise-roundtrip-time': iteration > 0 ? undefined : (options.roundTripMs / 1000).toFixed(6),
      }),
      timeoutMs: pollTimeoutMs,
      signal,
    })

  const backOff = () => clock.sleep(1000 * Math.min(2 ** failures++, 30), signal)

  try {
    for (let iteration = 0; ; iteration++) {
      const askedMs = clock.now()
      let answer: Answer
      try {
        answer = iteration === 0 && first !== undefined ? first : await ask(iteration)
      } catch (error) {
        if (!(error instanceof ServiceError) || !error.retryable) throw error
        silentSinceMs ??= askedMs
        if (clock.now() - silentSinceMs >= retryForMs) throw error.with({ requestId })
        if (error.kind !== 'timeout') await backOff()
        continue
      }
      silentSinceMs = undefined
      const outcome = readOutcome(requestId, answer, expected)
      if (outcome.state === 'done') return outcome.result
      if (outcome.state === 'pending') {
        failures = 0
        badRequests = 0
        if (outcome.queueState !== undefined) onQueueState(requestId, outcome.queueState, outcome.reason)
        if (clock.now() - askedMs < leastPollMs) await clock.sleep(leastPollMs, signal)
      } else if (outcome.state === 'metadata') {
        failures = 0
        if (!allowMetadataOnly) {
          throw new ServiceError('protocol', `${path}: the size was sent twice, the result never`, { requestId })
        }
        allowMetadataOnly = false
        release = await responses.acquire(outcome.sizeBytes, signal)
      } else {
        const { error } = outcome
        if (error.status === 402) {
          pausedSinceMs ??= clock.now()
          if (clock.now() - pausedSinceMs >= billingPauseMs()) throw error
          await clock.sleep(5000, signal)
        } else if (error.kind === 'status' && error.status === 400) {
          if (badRequests++ >= badRequestRetries) throw error
        } else if (error.retryable) await backOff()
        else throw error
      }
    }
  } finally {
    release()
  }
}

type Outcome<T> =
  | { state: 'done'; result: T }
  | { state: 'pending'; queueState?: tinker.QueueState | 'unknown' | undefined; reason?: string | undefined }
  | { state: 'metadata'; sizeBytes: number }
  | { state: 'error'; error: ServiceError }

function readOutcome<T>(requestId: string, answer: Answer, expected: Expected<T>): Outcome<T> {
  const { status, headers, bytes } = answer
  if (status === 408) return pending(jsonOf(bytes))
  if (status === 410) {
    const details = { status, requestId, serverText: textOfError(bytes), fix: 'send the request again.' }
    return {
      state: 'error',
      error: new ServiceError('lost', `${path}: the service no longer knows this request`, details),
    }
  }
  if (status < 200 || status > 299) return { state: 'error', error: errorOf(path, answer).with({ requestId }) }
  if (headers.get('content-type')?.includes('application/x-protobuf')) {
    const { protobuf = unexpected } = expected
    return { state: 'done', result: readResult(requestId, () => protobuf(bytes)) }
  }
  const body = jsonOf(bytes)
  if (body === undefined) throw new ServiceError('protocol', `${path}: the answer is not JSON`, { requestId })
  // By their marks, before any schema: nearly every answer is neither.
  const { type, status: state }: { type?: unknown; status?: unknown } = Object(body)
  if (type === 'try_again') return pending(body)
  if (state === 'complete_metadata') {
    const { response_payload_size: sizeBytes } = parseValue(path, body, tinker.CompleteMetadata)
    return { state: 'metadata', sizeBytes: sizeBytes ?? 0 }
  }
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, 'error')) {
    const { error, category } = parseValue(path, body, tinker.RequestFailedResponse)
    throw new ServiceError('failed', `the request failed: ${error}`, { requestId, category, serverText: error })
  }
  return { state: 'done', result: readResult(requestId, () => expected.json(body)) }
}

function unexpected(): never {
  throw new TypeError('protobuf was not asked for')
}

function readResult<T>(requestId: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new ServiceError('protocol', `${path}: the result cannot be read: ${messageOf(cause)}`, { requestId, cause })
  }
}

function pending(body: unknown): Outcome<never> {
  const parsed = tinker.TryAgainResponse.partial().safeParse(body)
  const { queue_state, queue_state_reason } = parsed.success ? parsed.data : {}
  if (queue_state == null) return { state: 'pending' }
  const known = tinker.QueueState.safeParse(queue_state)
  const queueState = known.success ? known.data : 'unknown'
  return { state: 'pending', queueState, reason: queue_state_reason ?? undefined }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes)
  } catch {
    return undefined
  }
}

// Results by the name they have on the wire, and how each is read.
export function expectPass(forwardOnly: boolean): Expected<tinker.ForwardBackwardOutput> {
  return {
    ...expectJson(forwardOnly ? 'Forward' : 'ForwardBackward', tinker.ForwardBackwardOutput),
    protobuf: tinker.decodeForwardBackwardOutput,
  }
}

export const expectSample: Expected<tinker.SampleResponse> = {
  requestType: 'Sample',
  json: (body) => tinker.sampleFromJson(parseValue('Sample', body, tinker.SampleResponseJson)),
  protobuf: tinker.decodeSampleResponse,
}

export function expectJson<S extends z.ZodType>(requestType: string, schema: S): Expected<z.output<S>> {
  return { requestType, json: (body) => parseValue(requestType, body, schema) }
}
