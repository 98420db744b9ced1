// The order of one model's requests. Each is numbered when its turn comes, and its turn ends when the service has accepted it;
// so what fails before it is sent leaves no gap. A gap that cannot be avoided ends the model: the service would wait for the
// missing number, and everything behind it would hang without a word.
import { ServiceError } from './service-error.ts'

export type RequestOrderOptions = { onBroken: (seq: number, error: ServiceError) => void }

export class RequestOrder {
  readonly #onBroken: RequestOrderOptions['onBroken']
  #turn: Promise<unknown> = Promise.resolve()
  #next = 1
  /** The number that stands to be used was refused before, and may be taken on the other side. */
  #wasRefused = false
  #broken: { seq: number; cause: unknown } | undefined

  constructor({ onBroken }: RequestOrderOptions) {
    this.#onBroken = onBroken
  }

  /** Number at which the order was lost, if it was. */
  get brokenAt(): number | undefined {
    return this.#broken?.seq
  }

  /** The number that the next request takes. */
  get nextSeq(): number {
    return this.#next
  }

  /** Runs `submit` when every earlier one has ended, whatever became of it. */
  inTurn<T>(submit: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(submit)
    this.#turn = mine.catch(() => {})
    return mine
  }

  /** Sends one request with the next number. `isConflict`: a 409 is about the request and not about its number. */
  async sendOne<T>(
    send: (seq: number) => Promise<T>,
    { isConflict = false } = {},
  ): Promise<{ seq: number; answer: T }> {
    this.#check()
    const seq = this.#next
    try {
      return this.#took(seq, await send(seq))
    } catch (error) {
      if (!isRefusal(error)) throw this.#break(seq, error)
      // Services differ in whether a refused number is used up. A conflict over one that was refused shows that it is.
      if (error.status !== 409 || !this.#wasRefused) throw this.#refuse(seq, error)
    }
    try {
      return this.#took(seq + 1, await send(seq + 1))
    } catch (error) {
      if (isRefusal(error) && (isConflict || error.status !== 409)) throw this.#refuse(seq, error)
      throw this.#break(seq + 1, error)
    }
  }

  /** Sends the parts of one request; a part that fails after another was accepted breaks the order. */
  async sendAll<T>(
    sends: readonly ((seq: number) => Promise<T>)[],
    mode: 'together' | 'in order',
  ): Promise<{ seq: number; answer: T }[]> {
    const [first, ...rest] = sends
    if (first === undefined) return []
    if (rest.length === 0) return [await this.sendOne(first)]
    this.#check()
    const start = this.#next
    let accepted = 0
    const sendAt = async (send: (seq: number) => Promise<T>, index: number) => {
      const answer = await send(start + index)
      accepted += 1
      return { seq: start + index, answer }
    }
    try {
      // The first part goes last: when it arrives the service has the whole batch and works on it at once.
      const answers =
        mode === 'together'
          ? await settleAll(rest.map((send, index) => sendAt(send, index + 1))).then(async (others) => [
              await sendAt(first, 0),
              ...others,
            ])
          : await oneByOne(sends, sendAt)
      this.#next = start + sends.length
      this.#wasRefused = false
      return answers
    } catch (error) {
      if (accepted === 0 && isRefusal(error)) throw this.#refuse(start, error)
      throw this.#break(start + accepted, error)
    }
  }

  #check(): void {
    if (this.#broken === undefined) return
    const { seq, cause } = this.#broken
    throw new ServiceError('broken', `nothing more can be sent for this model: request ${seq} was lost on the way`, {
      seq,
      cause,
      fix: 'load the last checkpoint into a new model.',
    })
  }

  #took<T>(seq: number, answer: T): { seq: number; answer: T } {
    this.#next = seq + 1
    this.#wasRefused = false
    return { seq, answer }
  }

  #refuse(seq: number, error: ServiceError): ServiceError {
    this.#wasRefused = true
    return error.with({ seq })
  }

  #break(seq: number, error: unknown): unknown {
    this.#broken = { seq, cause: error }
    if (!(error instanceof ServiceError)) return error
    this.#onBroken(seq, error)
    return error.with({ seq })
  }
}

/** An answer that leaves no doubt that the request was not taken; or a request that never left. */
function isRefusal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false
  if (error.kind === 'invalid') return true
  return error.kind === 'status' && !error.retryable && error.status !== undefined && error.status < 500
}

/** All results; the first failure is thrown once every promise has ended. */
async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises)
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}

async function oneByOne<S, T>(items: readonly S[], work: (item: S, index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (const [index, item] of items.entries()) results.push(await work(item, index))
  return results
}
