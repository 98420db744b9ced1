// So many at a time, the others in the order they came.
import { onAbort } from '../../kernel/index.ts'

export interface Turns {
  /** Waits for a turn; calling what it returns ends the turn. An abort leaves the queue. */
  take(signal: AbortSignal): Promise<() => void>
}

export function createTurns(size: number): Turns {
  let free = size
  const waiting = new Set<() => void>()
  const end = () => {
    free += 1
    const [next] = waiting
    next?.()
  }
  const begin = () => {
    free -= 1
    let isOver = false
    return () => {
      if (!isOver) end()
      isOver = true
    }
  }
  return {
    take(signal) {
      if (signal.aborted) return Promise.reject(signal.reason)
      if (free > 0 && waiting.size === 0) return Promise.resolve(begin())
      return new Promise((resolve, reject) => {
        const called = () => {
          waiting.delete(called)
          quiet()
          resolve(begin())
        }
        const quiet = onAbort(signal, () => {
          waiting.delete(called)
          reject(signal.reason)
        })
        waiting.add(called)
      })
    },
  }
}
