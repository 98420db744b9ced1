// What waits says for what: a person in front of a silent command cannot know whether it works or hangs.
import { channel } from 'node:diagnostics_channel'

/** Waits deep below a command, in words: the command line shows them. */
export const longWaits: { publish(message: string): void } = channel('evsys.wait')

/** When a wait is announced first, and by how much the next pause is longer than the one before. */
const FIRST_MS = 5000
const FACTOR = 4

export interface AnnouncedWait extends Disposable {
  /** Something came: the wait begins anew. */
  restart(): void
}

/** Calls `say` with the seconds that have passed: after five seconds, then ever less often. Disposing ends it. */
export function announceWait(say: (seconds: number) => void, firstMs = FIRST_MS): AnnouncedWait {
  let began = performance.now()
  let timer: NodeJS.Timeout
  let isFirst = true
  let isOver = false
  const wait = (pauseMs: number) => {
    timer = setTimeout(() => {
      isFirst = false
      say(Math.round((performance.now() - began) / 1000))
      wait(pauseMs * FACTOR)
    }, pauseMs)
    timer.unref()
  }
  wait(firstMs)
  return {
    restart() {
      if (isOver) return
      began = performance.now()
      if (isFirst) timer.refresh()
      else {
        clearTimeout(timer)
        isFirst = true
        wait(firstMs)
      }
    },
    [Symbol.dispose]() {
      isOver = true
      clearTimeout(timer)
    },
  }
}

const BETWEEN_WARNINGS_MS = 10_000

/** A log for where none is kept: `say` gets the first warning at once, and of those that follow one in ten seconds. */
export function sayWarnings(say: (text: string) => void): (level: string, text: string) => void {
  let lastMs = Number.NEGATIVE_INFINITY
  return (level, text) => {
    if (level !== 'warn' && level !== 'error') return
    if (performance.now() - lastMs < BETWEEN_WARNINGS_MS) return
    lastMs = performance.now()
    say(text)
  }
}
