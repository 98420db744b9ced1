// Prepared statements, kept by their text: compiling one costs more than running it.
import type { DatabaseSync } from './load-driver.ts'

export interface Prepared {
  readonly statement: ReturnType<DatabaseSync['prepare']>
  /** Whether it gives rows. */
  readonly reads: boolean
}

const KEPT = 256

/** Gives the prepared form of a text; past 256 texts the one that was not used for longest goes. */
export function createStatementCache(database: DatabaseSync): (text: string) => Prepared {
  const kept = new Map<string, Prepared>()
  return (text) => {
    let prepared = kept.get(text)
    if (prepared === undefined) {
      const statement = database.prepare(text)
      prepared = { statement, reads: statement.columns().length > 0 }
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value ?? '')
    } else kept.delete(text)
    kept.set(text, prepared)
    return prepared
  }
}
