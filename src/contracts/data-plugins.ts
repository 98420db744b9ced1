// Plugins that data passes through: sources, transforms, stores.
import type * as z from 'zod'
import type { Context, Plugin } from './plugin.ts'
import type { Row } from './rows.ts'
import type { DataConfig } from './run-config.ts'

/** Where raw rows come from. */
export interface DataSource<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'data_source', K, S> {
  /** Raw rows in order. `place` names where a row stands (`data/train.jsonl:812`) for errors further down. */
  rows(
    context: Context<z.output<S>> & { data: DataConfig; resolve(path: string): string },
  ): AsyncIterable<{ row: Row; place: string }>
}

/** Makes rows of rows; raw data is never edited. */
export interface Transform<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'transform', K, S> {
  run(rows: AsyncIterable<Row>, context: Context<z.output<S>>): AsyncIterable<Row>
}

/** Files by path, wherever they are kept. */
export interface OpenDataStore extends AsyncDisposable {
  read(path: string): AsyncIterable<Uint8Array>
  write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  exists(path: string): Promise<boolean>
  list(prefix: string): AsyncIterable<string>
}

/** Where the paths of an experiment point to. */
export interface DataStore<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'data_store', K, S> {
  open(context: Context<z.output<S>>): Promise<OpenDataStore>
}
