// What a record holds of its session, in the form that must be equal whether or not it was disturbed.
import { existsSync } from 'node:fs'
import { initialResearchState, type ResearchState, reduceResearch } from '../../contracts/index.ts'
import { openStore } from '../../store/index.ts'

export interface KeptSession {
  /** Of the newest session. Undefined: none was begun. */
  readonly canonical: unknown
  readonly state: ResearchState
  /** Sessions in the record. */
  readonly sessions: number
}

/** Reads the record at `file`. */
export async function keptSession(file: string): Promise<KeptSession> {
  const nothing = { canonical: undefined, state: initialResearchState, sessions: 0 }
  if (!existsSync(file)) return nothing
  await using store = await openStore(file)
  const rows = await store.experiments({ limit: 10 })
  const [row] = rows
  if (row === undefined) return nothing
  const stream = `experiment:${row.id}`
  const events = await store.events({ stream, afterSeq: 0, limit: 100_000, types: ['research'] })
  const state = events.reduce(
    (folded, event) => (event.type === 'research' ? reduceResearch(folded, event.entry) : folded),
    initialResearchState,
  )
  return { canonical: await store.canonicalRecord(row.id), state, sessions: rows.length }
}
