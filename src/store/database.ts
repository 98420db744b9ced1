// A database of either kind, as the rest of this room sees it: queries through kysely, and the few things that differ.
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

export type Queryable = Kysely<Tables> | Transaction<Tables>

export interface PointRow {
  readonly runIx: number
  readonly keyIx: number
  readonly step: number
  readonly value: number
  readonly atMs: number
}

export interface Database extends AsyncDisposable {
  readonly kind: 'sqlite' | 'postgres'
  /** Address without secrets, for messages. */
  readonly label: string
  readonly query: Kysely<Tables>
  /** All of it or nothing. Writers of other processes wait. */
  transaction<T>(work: (query: Transaction<Tables>) => Promise<T>): Promise<T>
  /** The hot path: many points at once, a later one of the same key and step replaces the earlier. */
  upsertPoints(query: Queryable, points: readonly PointRow[]): Promise<void>
  /** Ids of experiments whose name, hypothesis or conclusion hold all words of `text`, best first. */
  search(text: string, limit: number): Promise<string[]>
  /** A consistent copy while others go on writing. Returns where it is. */
  backup(file: string): Promise<string>
  /** Bytes on disk. */
  sizeBytes(): Promise<number>
  /** Gives freed space back. */
  compact(): Promise<void>
}
