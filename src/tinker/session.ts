// What the parts of a client share: the way to the service, its flags, its session and the clock.
import type * as tinker from '../contracts/tinker/index.ts'
import type { Clock } from '../kernel/index.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { Accepted, Caller } from './caller.ts'
import type { OnTinkerEvent } from './client-events.ts'
import type { PassFormat } from './pass-data.ts'
import type { Preset } from './presets.ts'
import { type Expected, retrieveFuture } from './retrieve-future.ts'
import { ServiceError } from './service-error.ts'
import { linkSignals, type Transport } from './transport.ts'

/** How one call may end early. */
export type CallOptions = {
  signal?: AbortSignal | undefined
  /** Longest time from the call to its result. */
  deadlineMs?: number | undefined
}

export interface Session {
  readonly transport: Transport
  readonly caller: Caller
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly preset: Preset
  readonly flags: tinker.ClientConfigResponse
  readonly passFormat: PassFormat
  readonly onEvent: OnTinkerEvent
  /** Bytes of passes being sent, of large answers being fetched, of prompts being sent. */
  readonly passBytes: ByteBudget
  readonly responseBytes: ByteBudget
  readonly promptBytes: ByteBudget
  /** How long a service that does not answer is asked again. */
  readonly retryForMs: number
  /** Id of the session; it is made when it is first needed. */
  sessionId(): Promise<string>
  /** Numbers of samplers within the session. */
  nextSamplerSeq(): number
  /** Whether the service stops work that no one waits for. */
  cancels(): boolean
}

/** A signal for one call: the client's, the caller's, and its deadline. */
export function callSignal(session: Session, { signal, deadlineMs }: CallOptions) {
  if (signal === undefined && deadlineMs === undefined) return { signal: session.signal, release() {} }
  const late = () => new ServiceError('deadline', `no result in ${deadlineMs} ms`, { fix: 'allow more time.' })
  return linkSignals([session.signal, signal], deadlineMs === undefined ? undefined : { timeoutMs: deadlineMs, late })
}

/** Asks for a result with the settings of the session. */
export function retrieve<T>(
  session: Session,
  accepted: Accepted,
  expected: Expected<T>,
  { signal, roundTripMs }: { signal: AbortSignal; roundTripMs: number },
): Promise<T> {
  return retrieveFuture(accepted, expected, {
    transport: session.transport,
    clock: session.clock,
    signal,
    responses: session.responseBytes,
    roundTripMs,
    billingPauseMs: () => session.flags.billing_exception_max_pause_duration_sec * 1000,
    badRequestRetries: session.preset.badRequestRetries,
    retryForMs: session.retryForMs,
    onQueueState: (id, state, reason) => session.onEvent({ type: 'queue', requestId: id, state, reason }),
  })
}

/** Makes a request and waits for its result: for what has no order to keep. */
export async function requestResult<T>(
  session: Session,
  call: { path: string; json: unknown },
  expected: Expected<T>,
  options: CallOptions = {},
): Promise<T> {
  const linked = callSignal(session, options)
  try {
    const sentMs = session.clock.now()
    const post = { method: 'POST', ...call, signal: linked.signal } as const
    const accepted = await session.caller.submit(post)
    const roundTripMs = session.clock.now() - sentMs
    return await retrieve(session, accepted, expected, { signal: linked.signal, roundTripMs })
  } finally {
    linked.release()
  }
}

// A result on its way, in two steps: accepted in its order, and done.
/** What the service took: its ids, with which the result can be asked for again, and the numbers of the requests. */
export interface Submitted {
  readonly requestIds: readonly string[]
  readonly seqs: readonly number[]
}

/** The result, once it is there. `submitted` resolves as soon as the service has accepted the work in its order. */
export interface TinkerFuture<T> extends Promise<T> {
  readonly submitted: Promise<Submitted>
}

/** Starts `work`, which calls back when it was accepted. Neither promise needs a handler: a caller may await an earlier one. */
export function startFuture<T>(work: (accepted: (submitted: Submitted) => void) => Promise<T>): TinkerFuture<T> {
  let accept: (submitted: Submitted) => void = () => {}
  let refuse: (reason: unknown) => void = () => {}
  const submitted = new Promise<Submitted>((resolve, reject) => {
    accept = resolve
    refuse = reject
  })
  submitted.catch(() => {})
  const result = work(accept)
  result.catch(refuse)
  return Object.assign(result, { submitted })
}
