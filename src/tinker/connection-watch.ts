// Whether the service answers: what every exchange and every sign of life says about it, as one state. A service that never
// answered is given up soon, since its address is probably wrong; one that did is waited for, and the wait is announced.
import { type Clock, messageOf } from '../kernel/index.ts'
import type { OnTinkerEvent } from './client-events.ts'
import { ServiceError } from './service-error.ts'
import type { Transport } from './transport.ts'

export interface ConnectionWatch {
  /** Whether it has answered at all. */
  isReached(): boolean
  /** How long a call is sent again that gets no answer. */
  patienceMs(): number
  answered(): void
  failed(message: string): void
  /** The failure of everything that waits, while nothing is answered. */
  lost(): ServiceError | undefined
  /** Called when answers stop. */
  onLost(listener: () => void): void
  /** The transport, whose exchanges are watched. */
  watched(transport: Transport): Transport
}

interface WatchOptions {
  readonly url: string
  readonly onEvent: OnTinkerEvent
  readonly clock: Clock
  readonly connectForMs?: number | undefined
  readonly retryForMs: number
}

// Below ten seconds with what a command needs to start; far above what a service takes to answer its first question.
const defaultConnectForMs = 6000
// A connection that is cut and works again at once is not worth a word.
const quietMs = 1000
// The first question is announced when it takes this long.
const slowMs = 2500
const shortestAttemptMs = 500

export function createConnectionWatch(options: WatchOptions): ConnectionWatch {
  const { url, onEvent, clock, connectForMs = defaultConnectForMs, retryForMs } = options
  const startedMs = clock.now()
  const listeners = new Set<() => void>()
  let isReached = false
  let outage: { readonly sinceMs: number; isAnnounced: boolean; message: string } | undefined

  const patienceMs = () => (isReached ? retryForMs : Math.min(connectForMs, retryForMs))
  const fail = (message: string, afterMs: number) => {
    outage ??= { sinceMs: clock.now(), isAnnounced: false, message }
    outage.message = message
    const goneMs = clock.now() - outage.sinceMs
    if (!outage.isAnnounced && goneMs >= afterMs) {
      outage.isAnnounced = true
      const untilMs = Math.max(0, patienceMs() - goneMs)
      onEvent({ type: 'connection', state: 'lost', url, message, untilMs })
    }
    for (const listener of listeners) listener()
  }
  const watch: ConnectionWatch = {
    isReached: () => isReached,
    patienceMs,
    answered() {
      isReached = true
      const before = outage
      outage = undefined
      if (before?.isAnnounced !== true) return
      onEvent({ type: 'connection', state: 'restored', url, afterMs: clock.now() - before.sinceMs })
    },
    failed: (message) => fail(message, 0),
    lost() {
      if (isReached && outage === undefined) return undefined
      const why = outage === undefined ? 'it has not answered yet' : outage.message
      return new ServiceError('connection', `${url} gives no answer: ${why}`, { retryable: true })
    },
    onLost: (listener) => void listeners.add(listener),
    watched: (transport) => ({
      async send(exchange) {
        const leftMs = connectForMs - (clock.now() - startedMs)
        const timeoutMs = isReached
          ? exchange.timeoutMs
          : Math.min(exchange.timeoutMs, Math.max(shortestAttemptMs, leftMs))
        const timer = isReached ? undefined : setTimeout(() => fail(`no answer in ${slowMs} ms`, 0), slowMs)
        try {
          const answer = await transport.send({ ...exchange, timeoutMs })
          watch.answered()
          return answer
        } catch (error) {
          if (error instanceof ServiceError && !exchange.signal.aborted) {
            if (error.kind === 'timeout') fail(messageOf(error), 0)
            else if (error.kind === 'connection') fail(messageOf(error), quietMs)
          }
          throw error
        } finally {
          clearTimeout(timer)
        }
      },
    }),
  }
  return watch
}
