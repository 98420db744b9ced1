// Polls come many times a minute and each tells the state of the queue.
import type { Clock } from '../kernel/index.ts'
import type { OnTinkerEvent } from './tinker-event.ts'

/** Tells a state of the queue when it changes, and once a minute while it lasts; everything else as it comes. */
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
