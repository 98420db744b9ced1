// Results that are retrieved later, as often as a client likes. A result that is no longer kept is distinguished from one that
// never was: the first can be asked for again by its original request, the second is a mistake.
import type * as tinker from '../../contracts/tinker/index.ts'
import type { FairQueue, Job } from './fair-queue.ts'

/** What a request amounts to, in the forms that clients read. */
export interface Answer {
  readonly json: () => unknown
  readonly protobuf?: (() => Uint8Array<ArrayBuffer>) | undefined
  /** About as many bytes as are held for it. */
  readonly sizeBytes: number
}

export type Failure = { readonly error: string; readonly category: tinker.ErrorCategory }
type Outcome = { readonly answer: Answer } | { readonly failure: Failure }

type Owner = { tenant: string | undefined; sessionId?: string | undefined; samplerId?: string | undefined }

export class Future {
  readonly requestId: string
  /** Who asked; undefined: the owner of the trainer. */
  readonly tenant: string | undefined
  readonly sessionId: string | undefined
  /** Sampling requests are also listed by the sampler that they belong to. */
  readonly samplerId: string | undefined
  /** Its place in the queue, once it has one. */
  job: Job | undefined
  /** Stops its work while it runs; absent: that runs to its end. */
  cancel: (() => void) | undefined
  /** What it waits for while it has no place. */
  waitsFor: (() => string | undefined) | undefined
  outcome: Outcome | undefined
  /** How long nothing was heard: of its client while it is open, and since the result was there or read. */
  silentMs = 0
  /** Whether its client was sent the result. */
  isRead = false
  readonly settled: Promise<void>
  #wake: () => void = () => {}

  constructor(requestId: string, { tenant, sessionId, samplerId }: Owner) {
    this.requestId = requestId
    this.tenant = tenant
    this.sessionId = sessionId
    this.samplerId = samplerId
    this.settled = new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  settle(outcome: Outcome): void {
    if (this.outcome !== undefined) return
    this.outcome = outcome
    this.#wake()
  }
}

type FuturesOptions = {
  queue: FairQueue
  /** How long a result is kept that was not read. */
  keepMs: number
  /** All results together. The oldest of the key that holds most go first. */
  keepBytes: number
  /** How long a result is kept after it was read. */
  readMs: number
  /** After so long without a question, work outside of a session is cancelled, and its result dropped. */
  abandonMs: number
  onSettled: (future: Future) => void
}

export class Futures {
  readonly #options: FuturesOptions
  readonly #futures = new Map<string, Future>()
  /** Ids of results that are gone, by session. */
  readonly #expired = new Map<string, Set<string>>()
  readonly #kept = new Map<string | undefined, Kept>()
  #heldBytes = 0

  constructor(options: FuturesOptions) {
    this.#options = options
  }

  open(requestId: string, owner: Owner): Future {
    const future = new Future(requestId, owner)
    this.#futures.set(requestId, future)
    return future
  }

  find(requestId: string): Future | 'expired' | undefined {
    const future = this.#futures.get(requestId)
    if (future !== undefined) return future
    const sessionId = requestId.split(':', 1)[0] ?? ''
    return this.#expired.get(sessionId)?.has(requestId) === true ? 'expired' : undefined
  }

  settle(future: Future, outcome: Outcome): void {
    if (future.outcome !== undefined) return
    future.settle(outcome)
    future.silentMs = 0
    const kept = this.#kept.get(future.tenant) ?? { futures: new Set(), bytes: 0 }
    this.#kept.set(future.tenant, kept)
    kept.futures.add(future)
    kept.bytes += heldFor(outcome)
    this.#heldBytes += heldFor(outcome)
    this.#options.onSettled(future)
    this.#makeRoom(future)
  }

  /** Lets time pass, and forgets results that were kept long enough. */
  pass(ms: number): void {
    for (const future of this.#futures.values()) {
      future.silentMs += ms
      if (future.outcome !== undefined && future.silentMs >= this.#keptMs(future)) this.expire(future)
      // Those of a session end with it.
      const isAbandoned = future.sessionId === undefined && future.silentMs >= this.#options.abandonMs
      if (future.outcome === undefined && isAbandoned) this.cancel(future, 'nobody asks for it any more')
    }
  }

  /** Takes it out of the queue, or stops its work where that can be stopped; otherwise only its result is lost. */
  cancel(future: Future, error: string): void {
    if (future.job !== undefined) this.#options.queue.remove(future.job)
    this.settle(future, { failure: { error, category: 'user' } })
    future.cancel?.()
  }

  /** Ends everything that belongs to a session. */
  endSession(sessionId: string): void {
    for (const future of this.#futures.values()) {
      if (future.sessionId !== sessionId) continue
      this.cancel(future, 'the session has ended')
      this.expire(future)
    }
    this.#expired.delete(sessionId) // the session itself is remembered
  }

  expire(future: Future): void {
    const { requestId, sessionId, tenant, outcome } = future
    if (!this.#futures.delete(requestId)) return
    const kept = this.#kept.get(tenant)
    if (outcome !== undefined && kept?.futures.delete(future) === true) {
      kept.bytes -= heldFor(outcome)
      this.#heldBytes -= heldFor(outcome)
      if (kept.futures.size === 0) this.#kept.delete(tenant)
    }
    if (sessionId === undefined) return // its id says that it was of no session
    const expired = this.#expired.get(sessionId) ?? new Set()
    this.#expired.set(sessionId, expired.add(requestId))
  }

  /** Why a request is not done yet, in words. */
  queueReason(future: Future): string {
    const waitsFor = future.waitsFor?.()
    if (waitsFor !== undefined) return waitsFor
    const ahead = future.job === undefined ? undefined : this.#options.queue.ahead(future.job)
    if (ahead === undefined) return 'being prepared'
    return ahead === 0 ? 'running' : `${ahead} request${ahead === 1 ? '' : 's'} ahead`
  }

  #keptMs({ isRead, sessionId }: Future): number {
    const { keepMs, readMs, abandonMs } = this.#options
    const unreadMs = sessionId === undefined ? abandonMs : keepMs
    return isRead ? Math.min(readMs, unreadMs) : unreadMs
  }

  // The newest stays, whatever its size: its client is about to read it.
  #makeRoom(newest: Future): void {
    while (this.#heldBytes > this.#options.keepBytes) {
      const [most] = [...this.#kept.values()].sort((a, b) => b.bytes - a.bytes)
      const [oldest] = most?.futures ?? []
      if (oldest === undefined || oldest === newest) return
      this.expire(oldest)
    }
  }
}

/** The results that are kept of a key, oldest first. */
type Kept = { readonly futures: Set<Future>; bytes: number }

/** What a result takes beside its content. */
const overheadBytes = 1024

function heldFor(outcome: Outcome): number {
  return overheadBytes + sizeOf(outcome)
}

function sizeOf(outcome: Outcome | undefined): number {
  return outcome !== undefined && 'answer' in outcome ? outcome.answer.sizeBytes : 0
}

// Which sampling requests are done, in the order in which they were: a client with thousands of them asks once for all.
/** Copies of a client number their requests from n times this. */
const numbersPerCopy = 1_000_000_000

type Feed = { readonly list: tinker.FutureCompletion[]; wake: () => void; news: Promise<void> }

export class Completions {
  readonly #feeds = new Map<string, Feed>()

  add(future: Future): void {
    const { outcome, samplerId, requestId } = future
    if (samplerId === undefined || outcome === undefined) return
    const feed = this.#feed(keyOf(samplerId, copyOf(requestId)))
    const request = { request_id: requestId }
    feed.list.push(
      'failure' in outcome
        ? { state: 'failed', ...request }
        : { state: 'finished', ...request, response_payload_uncompressed_size: Math.max(1, sizeOf(outcome)) },
    )
    const { wake } = feed
    Object.assign(feed, hope())
    wake()
  }

  /** What was done after the cursor; empty when nothing was. */
  since(samplerId: string, copy: number, cursor: number): tinker.RetrieveFuturesResponse {
    const { list } = this.#feed(keyOf(samplerId, copy))
    return { completions: list.slice(cursor), cursor: Math.max(cursor, list.length) }
  }

  /** Resolves when something more is done. */
  news(samplerId: string, copy: number): Promise<void> {
    return this.#feed(keyOf(samplerId, copy)).news
  }

  /** Forgets a sampler. */
  remove(samplerId: string): void {
    for (const key of this.#feeds.keys()) if (key.startsWith(`${samplerId} `)) this.#feeds.delete(key)
  }

  #feed(key: string): Feed {
    const known = this.#feeds.get(key)
    if (known !== undefined) return known
    const made = { list: [], ...hope() }
    this.#feeds.set(key, made)
    return made
  }
}

function hope(): { wake: () => void; news: Promise<void> } {
  let wake = () => {}
  const news = new Promise<void>((resolve) => {
    wake = resolve
  })
  return { wake, news }
}

function keyOf(samplerId: string, copy: number): string {
  return `${samplerId} ${copy}`
}

function copyOf(requestId: string): number {
  const seq = Number(requestId.slice(requestId.lastIndexOf(':') + 1))
  return Number.isFinite(seq) ? Math.floor(seq / numbersPerCopy) : 0
}
