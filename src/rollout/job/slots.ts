// Places for work that goes on at the same time. Who came first is served first, so nobody waits for ever.
import { onAbort } from '../../kernel/index.ts'

export interface Slots {
  /** Waits for a place; disposing of it gives it to the next in line. */
  take(signal: AbortSignal): Promise<Disposable>
  readonly taken: number
}

export function createSlots(limit: number): Slots {
  const waiting: (() => void)[] = []
  let taken = 0
  const place = (): Disposable => {
    let isHeld = true
    return {
      [Symbol.dispose]() {
        if (!isHeld) return
        isHeld = false
        const next = waiting.shift()
        if (next === undefined) taken -= 1
        else next() // the place changes hands: it is never free in between
      },
    }
  }
  return {
    get taken() {
      return taken
    },
    async take(signal) {
      signal.throwIfAborted()
      if (taken < limit) {
        taken += 1
        return place()
      }
      await new Promise<void>((resolve, reject) => {
        const mine = () => {
          stopListening()
          resolve()
        }
        waiting.push(mine)
        const stopListening = onAbort(signal, () => {
          const at = waiting.indexOf(mine)
          if (at >= 0) waiting.splice(at, 1)
          reject(signal.reason)
        })
      })
      return place()
    },
  }
}
