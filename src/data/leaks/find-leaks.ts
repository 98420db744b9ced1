// Training rows that repeat questions of a benchmark, in one pass over the rows.
import * as z from 'zod'
import { type ChatMessage, LeakPair, type RowFormat, type RowOf } from '../../contracts/index.ts'
import { hashOf } from '../../kernel/index.ts'
import { findEntry, touchEntry, writeEntry } from '../cache/cache-entry.ts'
import type { OpenRows } from '../cache/open-rows.ts'
import type { TypedRow } from '../cache/typed-rows.ts'
import type { LeakIndex, LeakMatch } from './leak-index.ts'

/** Pairs that are kept; the rest is counted. */
const mostPairs = 100_000

export interface FoundLeaks {
  readonly rows: number
  /** Rows that repeat a question, exactly or nearly. */
  readonly exact: number
  readonly near: number
  /** All of them, the exact ones before the near ones. */
  readonly pairs: readonly LeakPair[]
}

/** What of `rows` stands in each of the benchmarks, by their names. */
export async function findLeaks<F extends RowFormat>(
  rows: AsyncIterable<TypedRow<F>>,
  benchmarks: ReadonlyMap<string, LeakIndex>,
  { signal }: { signal: AbortSignal },
): Promise<Map<string, FoundLeaks>> {
  const none = () => ({ exact: 0, near: 0, pairs: { exact: [] as LeakPair[], near: [] as LeakPair[] } })
  const found = new Map([...benchmarks.keys()].map((name) => [name, none()]))
  let count = 0
  for await (const { row, place } of rows) {
    signal.throwIfAborted()
    count++
    for (const [name, index] of benchmarks) {
      const match = leakOf(row, index)
      const own = found.get(name)
      if (match === undefined || own === undefined) continue
      own[match.kind]++
      const list = own.pairs[match.kind]
      if (list.length < mostPairs) list.push({ place, ...match })
    }
  }
  return new Map(
    [...found].map(([name, { exact, near, pairs }]) => [
      name,
      { rows: count, exact, near, pairs: [...pairs.exact, ...pairs.near] },
    ]),
  )
}

/** The question that a row repeats, the closest one. */
export function leakOf(row: RowOf[RowFormat], index: LeakIndex): LeakMatch | undefined {
  return closest(questionTexts(row).map((text) => index.find(text)))
}

function closest(matches: readonly (LeakMatch | undefined)[]): LeakMatch | undefined {
  const order = (match: LeakMatch) => (match.kind === 'exact' ? 2 : match.share)
  return matches.filter((match) => match !== undefined).toSorted((a, b) => order(b) - order(a))[0]
}

// What was found once is cached: the leaks of rows in the cache against a benchmark, by both of their hashes.
const Known = z.strictObject({
  rows: z.int().min(0),
  exact: z.int().min(0),
  near: z.int().min(0),
  pairs: z.array(LeakPair),
})

/** A benchmark to compare with: `hash` covers its questions and how they are asked. */
export interface LeakTarget {
  readonly hash: string
  readonly index: LeakIndex
}

/** As `findLeaks`; rows that are not cached are compared every time. */
export async function knownLeaks(
  opened: OpenRows<RowFormat>,
  targets: ReadonlyMap<string, LeakTarget>,
  { dir, signal }: { dir: string; signal: AbortSignal },
): Promise<Map<string, FoundLeaks>> {
  const found = new Map<string, FoundLeaks>()
  const missing = new Map<string, LeakTarget>()
  for (const [name, target] of targets) {
    const entry = opened.key === undefined ? undefined : await findEntry(dir, keyOf(opened.key, target), Known)
    if (entry === undefined) missing.set(name, target)
    else {
      await touchEntry(entry)
      found.set(name, entry.manifest)
    }
  }
  if (missing.size === 0) return found
  const indices = new Map([...missing].map(([name, { index }]) => [name, index]))
  for (const [name, leaks] of await findLeaks(opened.rows(), indices, { signal })) {
    found.set(name, leaks)
    const target = missing.get(name)
    if (opened.key === undefined || target === undefined) continue
    const manifest = { ...leaks, pairs: leaks.pairs.map((pair) => ({ ...pair })) }
    const key = keyOf(opened.key, target)
    await writeEntry(dir, Known, async () => ({ key, files: [], manifest }))
  }
  return found
}

function keyOf(rows: string, { hash }: LeakTarget): string {
  return hashOf({ version: 2, rows, benchmark: hash })
}

// What a training row asks, for comparing it with the questions of a benchmark.
/** The texts of a row that a question could have been taken from. */
export function questionTexts(row: RowOf[RowFormat]): string[] {
  if ('messages' in row) {
    return row.messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content))
  }
  if ('instruction' in row) return [row.instruction]
  const values = Object.values(row.inputs).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  return values.length > 1 ? [...values, values.join('\n')] : values
}

function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content
  return (content ?? [])
    .flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : []))
    .join('\n')
}
