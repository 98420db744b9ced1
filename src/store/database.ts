// A database of either kind, as the rest of this room sees it: queries through kysely, and the few things that differ.
import type { Kysely, Transaction } from 'kysely'
import type { EvsysError } from '../kernel/index.ts'
import type { Tables } from './tables.ts'

export type Queryable = Kysely<Tables> | Transaction<Tables>

export interface PointRow {
  readonly runIx: number
  readonly keyIx: number
  readonly step: number
  readonly value: number
  readonly atMs: number
}

/** Steps of one metric of one run, both ends included. */
export interface StepRange {
  readonly runIx: number
  readonly keyIx: number
  readonly first: number
  readonly last: number
}

export interface Database extends AsyncDisposable {
  readonly kind: 'sqlite' | 'postgres'
  /** Address without secrets, for messages. */
  readonly label: string
  readonly query: Kysely<Tables>
  /** All of it or nothing. Writers of other processes wait. `work` may be done more than once: it does nothing but queries. */
  transaction<T>(work: (query: Transaction<Tables>) => Promise<T>): Promise<T>
  /** The hot path: points of different places (run, key, step), sorted by them; those that are there are replaced. */
  upsertPoints(query: Queryable, points: readonly PointRow[]): Promise<void>
  /** Sums up the steps in `ranges` again, after they changed. */
  rollUp(query: Queryable, ranges: readonly StepRange[]): Promise<void>
  /** Ids of experiments whose text holds words that begin with all of `words`, best first. */
  search(words: readonly string[], limit: number): Promise<string[]>
  /** A copy of all rows as they are, for the time after a migration; within its transaction. Returns where it is. */
  keepCopy(query: Queryable, name: string): Promise<string>
  /** A consistent copy as a database file, while others go on writing. */
  copyTo(file: string): Promise<void>
  /** Bytes on disk. */
  sizeBytes(): Promise<number>
  /** Gives freed space back. */
  compact(): Promise<void>
  /** Time of the server, where machines share one. */
  readonly serverTimeMs?: () => Promise<number>
  /** What a failure of this database means. */
  explain(cause: unknown): EvsysError
}
