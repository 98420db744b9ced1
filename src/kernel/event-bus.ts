// Producers emit, subscribers follow at their own pace. Emitting never waits and never throws: each subscriber has a queue of
// its own, and what it does with an event reaches neither the producer nor the other subscribers.
//
// A subscriber that falls behind loses the oldest events, and learns how many: memory stays bounded, and a live view wants the
// newest. One that may lose nothing, such as the record, subscribes with `lossless: true` and is bounded by
// memory alone; its backlog is what `flush` and `close` wait for.
import { BoundedQueue, type Delivery, type Follower, handlerFollower, readerFollower } from './event-follower.ts'
import { messageOf } from './evsys-error.ts'
import { onAbort, unlessAborted } from './map-concurrent.ts'

export type { Delivery } from './event-follower.ts'

export type EventBusOptions<E> = {
  /** Applied once to each event, before any subscriber sees it: removes secrets. An event that it fails on is not delivered. */
  redact?: ((event: E) => E) | undefined
  /** Length of a subscriber's queue. Default 1,024. */
  capacity?: number | undefined
  /** Called when a subscriber, or `redact`, throws. Default: a process warning. */
  onError?: ((failure: { subscriber: string; error: unknown }) => void) | undefined
  /** Called when a subscriber has lost events, just before it is handed the next one. */
  onGap?: ((gap: { subscriber: string; missed: number }) => void) | undefined
}

export type SubscribeOptions = {
  /** For reports about this subscriber. */
  name?: string | undefined
  /** Keep every event until it was handled, however many that are. */
  lossless?: boolean | undefined
  capacity?: number | undefined
}

export type EventBus<E> = AsyncDisposable & {
  /** Hands `event` to all subscribers, later. False when the bus is closed or `redact` failed: it reaches no one. */
  emit(event: E): boolean
  /** Calls `handle` for each event, one after the other; a returned promise is waited for. Returns the unsubscribe. */
  subscribe(handle: (event: E, info: { missed: number }) => unknown, options?: SubscribeOptions): () => void
  /** Events from now on, for `for await`. It ends when the bus is closed and throws the reason when `signal` aborts. */
  events(options?: SubscribeOptions & { signal?: AbortSignal | undefined }): AsyncIterableIterator<Delivery<E>>
  /** Waits until every handler has seen what was emitted so far. Loops over `events()` go at their own pace. */
  flush(signal?: AbortSignal): Promise<void>
  /** Accepts no more events, waits for the handlers, and ends the loops over `events()`. An abort gives up the waiting. */
  close(signal?: AbortSignal): Promise<void>
}

export function createEventBus<E>({ redact, capacity = 1_024, onError, onGap }: EventBusOptions<E> = {}): EventBus<E> {
  const followers = new Set<Follower<E>>()
  let closed = false

  const report = (subscriber: string, error: unknown) => {
    try {
      if (onError === undefined) warn(subscriber, error)
      else onError({ subscriber, error })
    } catch (second) {
      warn(`onError for ${subscriber}`, second)
    }
  }
  const reportGap = (subscriber: string, missed: number) => {
    try {
      if (missed > 0) onGap?.({ subscriber, missed })
    } catch (error) {
      report('onGap', error)
    }
  }
  const queueFor = (wanted: SubscribeOptions) =>
    new BoundedQueue<E>(wanted.lossless ? Number.POSITIVE_INFINITY : (wanted.capacity ?? capacity))

  const bus: EventBus<E> = {
    emit(event) {
      if (closed) return false
      let safe: E
      try {
        safe = redact === undefined ? event : redact(event)
      } catch (error) {
        report('redact', error)
        return false
      }
      for (const follower of followers) follower.push(safe)
      return true
    },

    subscribe(handle, wanted = {}) {
      const name = wanted.name ?? 'a subscriber'
      const follower = handlerFollower<E>(queueFor(wanted), async ({ event, missed }) => {
        reportGap(name, missed)
        try {
          await handle(event, { missed })
        } catch (error) {
          report(name, error)
        }
      })
      if (!closed) followers.add(follower)
      return () => {
        followers.delete(follower)
        follower.drop()
      }
    },

    events(wanted = {}) {
      const name = wanted.name ?? 'a loop'
      let stopListening = () => {}
      const reader = readerFollower<E>(queueFor(wanted), {
        taken: ({ missed }) => reportGap(name, missed),
        left() {
          followers.delete(reader)
          stopListening()
        },
      })
      followers.add(reader)
      const { signal } = wanted
      if (signal !== undefined) stopListening = onAbort(signal, () => reader.abort(signal.reason))
      if (closed) reader.end()
      return reader.iterator
    },

    async flush(signal) {
      signal?.throwIfAborted()
      const settled = Promise.all([...followers].map((follower) => follower.settled()))
      await (signal === undefined ? settled : unlessAborted(settled, signal))
    },

    async close(signal) {
      closed = true
      for (const follower of followers) follower.end()
      try {
        await bus.flush(signal)
      } finally {
        for (const follower of followers) follower.drop()
        followers.clear()
      }
    },

    [Symbol.asyncDispose]: () => bus.close(),
  }
  return bus
}

function warn(subscriber: string, error: unknown): void {
  process.emitWarning(`event subscriber "${subscriber}" failed: ${messageOf(error)}`, 'EvsysWarning')
}
