// What was found once need not be looked for again: the leaks of rows in the cache against a benchmark, by both of their hashes.
import * as z from 'zod'
import type { RowFormat } from '../../contracts/index.ts'
import { hashOf } from '../../kernel/index.ts'
import { findEntry, touchEntry, writeEntry } from '../cache/cache-entry.ts'
import type { OpenRows } from '../cache/open-rows.ts'
import { type FoundLeaks, findLeaks } from './find-leaks.ts'
import type { LeakIndex } from './leak-index.ts'

const Known = z.strictObject({
  rows: z.int().min(0),
  exact: z.int().min(0),
  near: z.int().min(0),
  pairs: z.array(
    z.strictObject({ place: z.string(), task_id: z.string(), kind: z.enum(['exact', 'near']), share: z.number() }),
  ),
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
  return hashOf({ version: 1, rows, benchmark: hash })
}
