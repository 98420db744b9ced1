// Requests of one model, carried out in the order of their numbers however they arrive.
import { EvsysError } from '../../kernel/index.ts'

/** Runs work one at a time, from 1 upwards without gaps; what comes early waits for what is missing. */
export class SequenceQueue {
  readonly #waiting = new Map<number, { run: () => Promise<void>; reject: (reason: unknown) => void }>()
  #next = 1
  #isRunning = false
  #closed: { reason: unknown } | undefined

  /** The result of `work`, which starts once every request with a lower number has ended. */
  submit<T>(seq: number, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) return reject(this.#closed.reason)
      const fault = this.#fault(seq)
      if (fault !== undefined) return reject(fault)
      const run = async () => {
        try {
          resolve(await work())
        } catch (cause) {
          reject(cause)
        }
      }
      this.#waiting.set(seq, { run, reject })
      void this.#pump()
    })
  }

  /** Ends what has not begun, and everything that comes later, with `reason`. */
  close(reason: unknown): void {
    this.#closed ??= { reason }
    for (const { reject } of this.#waiting.values()) reject(this.#closed.reason)
    this.#waiting.clear()
  }

  #fault(seq: number): EvsysError | undefined {
    if (!Number.isSafeInteger(seq) || seq < 1) {
      return refused(`seq is ${seq}`, 'number the requests of a model 1, 2, 3, ...')
    }
    const isUsed = seq < this.#next || this.#waiting.has(seq)
    return isUsed
      ? refused(`a request with seq ${seq} was sent before`, 'give every request a number of its own.')
      : undefined
  }

  async #pump(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let job = this.#take(); job !== undefined; job = this.#take()) await job.run()
    this.#isRunning = false
  }

  #take() {
    const job = this.#waiting.get(this.#next)
    if (job === undefined) return undefined
    this.#waiting.delete(this.#next++)
    return job
  }
}

function refused(message: string, fix: string): EvsysError {
  return new EvsysError('BACKEND_FAILED', `mock backend: ${message}`, { fix })
}
