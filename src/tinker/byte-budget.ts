// A bound on bytes under way. A request is admitted while any are left, so that one larger than the whole budget still goes out,
// alone.
import { onAbort } from '../kernel/index.ts'

export class ByteBudget {
  #left: number
  readonly #waiting: { cost: number; enter: () => void }[] = []

  constructor(sizeBytes: number) {
    this.#left = sizeBytes
  }

  get leftBytes(): number {
    return this.#left
  }

  /** Waits its turn; the returned function gives the bytes back. */
  acquire(cost: number, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      let stopListening = () => {}
      const waiter = {
        cost,
        enter: () => {
          stopListening()
          this.#left -= cost
          resolve(this.#giveBack(cost))
        },
      }
      this.#waiting.push(waiter)
      stopListening = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        reject(signal.reason)
        this.#admit()
      })
      this.#admit()
    })
  }

  #giveBack(cost: number): () => void {
    let isBack = false
    return () => {
      if (isBack) return
      isBack = true
      this.#left += cost
      this.#admit()
    }
  }

  #admit(): void {
    while (this.#left > 0 && this.#waiting.length > 0) this.#waiting.shift()?.enter()
  }
}
