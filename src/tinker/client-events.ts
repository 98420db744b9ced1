// What a client reports while it works. Nothing here is needed to use it; a screen or a log may want to know.
import type * as tinker from '../contracts/tinker/index.ts'
import type { Clock } from '../kernel/index.ts'

export type TinkerEvent =
  /** The service said why a request waits. Reported when the state changes, and again once a minute. */
  | {
      readonly type: 'queue'
      readonly requestId: string
      readonly state: tinker.QueueState | 'unknown'
      readonly reason?: string | undefined
    }
  /** A call failed in a way that may go away, and is sent again. */
  | { readonly type: 'retry'; readonly path: string; readonly waitMs: number; readonly message: string }
  /** The service asked for fewer samples at a time. */
  | { readonly type: 'backoff'; readonly samplingSession: string; readonly waitMs: number }
  /** Requests get no answer; sent once for each time that this happens. `untilMs`: how much longer they are sent again. */
  | {
      readonly type: 'connection'
      readonly state: 'lost'
      readonly url: string
      readonly message: string
      readonly untilMs: number
    }
  /** The service answers again. */
  | { readonly type: 'connection'; readonly state: 'restored'; readonly url: string; readonly afterMs: number }
  /** Words of the service about a session. */
  | { readonly type: 'message'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  /** The service has not heard our sign of life for a while, or no longer knows the session. */
  | { readonly type: 'heartbeat'; readonly silentMs: number; readonly message: string }
  /** From now on requests are sent in this form. */
  | { readonly type: 'wire'; readonly format: 'json' | 'protobuf' }
  /** The order of a model's requests cannot be kept any more: nothing further is sent for it. */
  | { readonly type: 'broken'; readonly modelId: string; readonly seq: number; readonly message: string }

export type OnTinkerEvent = (event: TinkerEvent) => void

// Polls come many times a minute, and each has the state of the queue.
/** Reports a state of the queue when it changes, and once a minute while it lasts; everything else as it comes. */
export function throttleEvents(onEvent: OnTinkerEvent, clock: Clock): OnTinkerEvent {
  let last: { key: string; atMs: number } | undefined
  return (event) => {
    if (event.type === 'queue') {
      const key = `${event.state} ${event.reason ?? ''}`
      if (last !== undefined && last.key === key && clock.now() - last.atMs < 60_000) return
      last = { key, atMs: clock.now() }
    }
    onEvent(event)
  }
}
