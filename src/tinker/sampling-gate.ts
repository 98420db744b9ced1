// How fast samples are asked for. A service that is asked for too many says 429; then everybody who samples from the same
// session waits a moment, and for a while only few go at once.
import type { Clock } from '../kernel/index.ts'
import { ByteBudget } from './byte-budget.ts'

export type SamplingGateOptions = {
  clock: Clock
  /** Bytes of prompts on their way, of all sessions together. */
  bytes: ByteBudget
  onBackoff: (waitMs: number) => void
}

const submitsAtOnce = 400
const submitsWhenTroubled = 10
const troubleMs = 10_000
const costWhenTroubled = 20
const largePromptBytes = 131_072

export class SamplingGate {
  readonly #clock: Clock
  readonly #bytes: ByteBudget
  readonly #onBackoff: (waitMs: number) => void
  readonly #slots = new ByteBudget(submitsAtOnce)
  readonly #troubledSlots = new ByteBudget(submitsWhenTroubled)
  #closedUntilMs = Number.NEGATIVE_INFINITY
  #troubledUntilMs = Number.NEGATIVE_INFINITY

  constructor({ clock, bytes, onBackoff }: SamplingGateOptions) {
    this.#clock = clock
    this.#bytes = bytes
    this.#onBackoff = onBackoff
  }

  /** Runs `submit` when it may go. */
  async pass<T>(promptBytes: number, signal: AbortSignal, submit: () => Promise<T>): Promise<T> {
    const releases = [await this.#slots.acquire(1, signal)]
    try {
      for (;;) {
        const waitMs = this.#closedUntilMs - this.#clock.now()
        if (waitMs <= 0) break
        await this.#clock.sleep(waitMs, signal)
      }
      const isTroubled = this.#clock.now() < this.#troubledUntilMs
      if (isTroubled) releases.push(await this.#troubledSlots.acquire(1, signal))
      releases.push(await this.#bytes.acquire(isTroubled ? promptBytes * costWhenTroubled : promptBytes, signal))
      return await submit()
    } finally {
      for (const release of releases) release()
    }
  }

  /** The service said 429. */
  backOff(promptBytes: number): void {
    const waitMs = promptBytes > largePromptBytes ? 5000 : 1000
    const nowMs = this.#clock.now()
    this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + waitMs)
    this.#troubledUntilMs = nowMs + waitMs + troubleMs
    this.#onBackoff(waitMs)
  }
}
