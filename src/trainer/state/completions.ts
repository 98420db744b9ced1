// Which sampling requests are done, in the order in which they were: a client with thousands of them asks once for all.
import type * as tinker from '../../contracts/tinker/index.ts'
import type { Future } from './futures.ts'

/** Copies of a client number their requests from n times this. */
const numbersPerCopy = 1_000_000_000

type Feed = { readonly list: tinker.FutureCompletion[]; wake: () => void; news: Promise<void> }

export class Completions {
  readonly #feeds = new Map<string, Feed>()

  add(future: Future): void {
    const { outcome, samplerId, requestId } = future
    if (samplerId === undefined || outcome === undefined) return
    const feed = this.#feed(keyOf(samplerId, copyOf(requestId)))
    feed.list.push(
      'answer' in outcome
        ? {
            state: 'finished',
            request_id: requestId,
            response_payload_uncompressed_size: Math.max(1, outcome.answer.sizeBytes),
          }
        : { state: 'failed', request_id: requestId },
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
