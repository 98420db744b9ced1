// Training rows that repeat questions of a benchmark, in one pass over the rows.
import type { RowFormat } from '../../contracts/index.ts'
import type { TypedRow } from '../cache/typed-rows.ts'
import type { LeakIndex, LeakMatch } from './leak-index.ts'
import { questionTexts } from './question-texts.ts'

/** Pairs that are named; the rest is counted. */
const named = 5

export interface LeakPair extends LeakMatch {
  /** Where the training row stands: data/train.jsonl:812. */
  readonly place: string
}

export interface FoundLeaks {
  readonly rows: number
  /** Rows that repeat a question, exactly or nearly. */
  readonly exact: number
  readonly near: number
  /** The first of them, the exact ones before the near ones. */
  readonly pairs: readonly LeakPair[]
}

/** What of `rows` stands in each of the benchmarks, by their names. */
export async function findLeaks<F extends RowFormat>(
  rows: AsyncIterable<TypedRow<F>>,
  benchmarks: ReadonlyMap<string, LeakIndex>,
  { signal }: { signal: AbortSignal },
): Promise<Map<string, FoundLeaks>> {
  const found = new Map([...benchmarks.keys()].map((name) => [name, { exact: 0, near: 0, pairs: pairLists() }]))
  let count = 0
  for await (const { row, place } of rows) {
    signal.throwIfAborted()
    count++
    const texts = questionTexts(row)
    for (const [name, index] of benchmarks) {
      const match = closest(texts.map((text) => index.find(text)))
      const own = found.get(name)
      if (match === undefined || own === undefined) continue
      own[match.kind]++
      const list = own.pairs[match.kind]
      if (list.length < named) list.push({ place, ...match })
    }
  }
  return new Map(
    [...found].map(([name, { exact, near, pairs }]) => [
      name,
      { rows: count, exact, near, pairs: [...pairs.exact, ...pairs.near].slice(0, named) },
    ]),
  )
}

function pairLists(): Record<'exact' | 'near', LeakPair[]> {
  return { exact: [], near: [] }
}

function closest(matches: readonly (LeakMatch | undefined)[]): LeakMatch | undefined {
  const order = (match: LeakMatch) => (match.kind === 'exact' ? 2 : match.share)
  return matches
    .filter((match) => match !== undefined)
    .reduce<LeakMatch | undefined>(
      (best, match) => (best === undefined || order(match) > order(best) ? match : best),
      undefined,
    )
}
