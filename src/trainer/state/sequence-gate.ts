// The order of one model's requests. They carry numbers, arrive in any order, may arrive twice, and take effect once, in the
// order of their numbers.
import type { Clock } from '../../kernel/index.ts'
import { HttpError } from '../http/http-error.ts'

export type Turn = {
  /** Called when all lower numbers have had their turn. */
  readonly begin: () => void
  /** Called instead when a lower number never came. */
  readonly fail: (missing: number) => void
}

type Known = { readonly hash: string; readonly requestId: string }

export class SequenceGate {
  readonly #clock: Clock
  readonly #gapMs: number
  readonly #signal: AbortSignal
  readonly #known = new Map<number, Known>()
  readonly #waiting = new Map<number, Turn>()
  #next = 1
  /** The number whose absence is being timed. */
  #missed: number | undefined

  constructor(clock: Clock, gapMs: number, signal: AbortSignal) {
    this.#clock = clock
    this.#gapMs = gapMs
    this.#signal = signal
  }

  /** The id of the request that came with this number before; undefined for a new one. Other content is a conflict. */
  earlier(seq: number, hash: string): string | undefined {
    const known = this.#known.get(seq)
    if (known === undefined && seq >= this.#next) return undefined
    if (known?.hash === hash) return known.requestId
    throw new HttpError(409, `another request with seq_id ${seq} was sent to this model before`)
  }

  enter(seq: number, known: Known, turn: Turn): void {
    this.#known.set(seq, known)
    this.#waiting.set(seq, turn)
    this.#release()
  }

  /** A number that was used up by a refused request. */
  skip(seq: number): void {
    if (seq < this.#next || this.#waiting.has(seq)) return
    this.#waiting.set(seq, { begin: () => {}, fail: () => {} })
    this.#release()
  }

  /** The number that everything else waits for; undefined when nothing waits. */
  get missing(): number | undefined {
    return this.#waiting.size > 0 ? this.#next : undefined
  }

  #release(): void {
    for (let turn = this.#waiting.get(this.#next); turn !== undefined; turn = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next++)
      turn.begin()
    }
    if (this.#waiting.size > 0 && this.#missed !== this.#next) void this.#timeGap(this.#next)
  }

  // A client whose request failed on the way continues to count. Leaving the gap out would silently train on half a batch, so
  // what waited for it fails, and what comes later is carried out again.
  async #timeGap(missing: number): Promise<void> {
    this.#missed = missing
    await this.#clock.sleep(this.#gapMs, this.#signal).catch(() => {}) // closing fails everything anyway
    if (this.#next !== missing || this.#waiting.size === 0 || this.#signal.aborted) return
    const stranded = [...this.#waiting].sort(([a], [b]) => a - b)
    this.#waiting.clear()
    this.#next = (stranded.at(-1)?.[0] ?? missing) + 1
    for (const [, turn] of stranded) turn.fail(missing)
  }
}
