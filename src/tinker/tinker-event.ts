// What a client tells while it works. Nothing here is needed to use it; a screen or a log may want to know.
import type * as tinker from '../contracts/tinker/index.ts'

export type TinkerEvent =
  /** The service said why a request waits. Told when the state changes, and again once a minute. */
  | {
      readonly type: 'queue'
      readonly requestId: string
      readonly state: tinker.QueueState | 'unknown'
      readonly reason?: string
    }
  /** A call failed in a way that may go away, and is sent again. */
  | { readonly type: 'retry'; readonly path: string; readonly waitMs: number; readonly message: string }
  /** The service asked for fewer samples at a time. */
  | { readonly type: 'backoff'; readonly samplingSession: string; readonly waitMs: number }
  /** Words of the service about a session. */
  | { readonly type: 'message'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  /** The service has not heard our sign of life for a while, or no longer knows the session. */
  | { readonly type: 'heartbeat'; readonly silentMs: number; readonly message: string }
  /** From now on requests are sent in this form. */
  | { readonly type: 'wire'; readonly format: 'json' | 'protobuf' }
  /** The order of a model's requests cannot be kept any more: nothing further is sent for it. */
  | { readonly type: 'broken'; readonly modelId: string; readonly seq: number; readonly message: string }

export type OnTinkerEvent = (event: TinkerEvent) => void
