// The key, or the token it was exchanged for. A token is renewed in good time by the next sender, in the background; only one
// that is about to end is waited for.
import * as tinker from '../contracts/tinker/index.ts'
import type { Clock } from '../kernel/index.ts'
import type { Caller } from './caller.ts'

const renewBeforeMs = 300_000
const waitBeforeMs = 60_000
const pauseAfterFailureMs = 60_000

/** What is sent as `X-API-Key`. */
export class Credentials {
  readonly #apiKey: string
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #caller: Caller | undefined
  #token: { text: string; endsMs: number } | undefined
  #renewing: Promise<void> | undefined
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  constructor(apiKey: string, clock: Clock) {
    this.#apiKey = apiKey
    this.#clock = clock
  }

  get value(): string {
    return this.#token?.text ?? this.#apiKey
  }

  /** Called for each new token. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Exchanges the key for a token, from now on. */
  async useTokens(caller: Caller): Promise<void> {
    this.#caller = caller
    await this.#renew(caller)
  }

  /** Sees to it that the token lasts; waits only if it hardly does. A failed renewal is tried again a minute later. */
  async refresh(): Promise<void> {
    if (this.#caller === undefined || this.#token === undefined) return
    const nowMs = this.#clock.now()
    const leftMs = this.#token.endsMs - nowMs
    if (leftMs > renewBeforeMs || nowMs < this.#pausedUntilMs) return
    this.#renewing ??= this.#renew(this.#caller)
      .catch(() => {
        this.#pausedUntilMs = this.#clock.now() + pauseAfterFailureMs
      })
      .finally(() => {
        this.#renewing = undefined
      })
    if (leftMs <= waitBeforeMs) await this.#renewing
  }

  async #renew(caller: Caller): Promise<void> {
    // The key asks, not the token that is about to end.
    const headers = { 'x-api-key': this.#apiKey }
    const call = { method: 'POST', path: '/api/v1/auth/token', json: {}, headers } as const
    const { jwt } = await caller.json(call, tinker.AuthTokenResponse)
    this.#token = { text: jwt, endsMs: expiryMs(jwt) }
    for (const listener of this.#listeners) listener()
  }
}

// A token that does not say when it ends is taken to last.
function expiryMs(token: string): number {
  try {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
    const exp: unknown = Reflect.get(JSON.parse(payload), 'exp')
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
