// Plugins that data passes through: sources, transforms, stores.
import type * as z from 'zod'
import type { Context, Plugin } from './plugin.ts'
import type { Row } from './rows.ts'
import type { DataConfig } from './run-config.ts'

/** What a data source is handed beside its params. */
export interface SourceContext {
  readonly data: DataConfig
  /** The file that a path of `data` names. */
  resolve(path: string): string
  /** Folder of the project, where there is one: stored datasets lie in it. */
  readonly projectDir?: string
}

/** Where raw rows come from. */
export interface DataSource<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'data_source', K, S> {
  /** Raw rows in order. `place` names where a row stands (`data/train.jsonl:812`) for errors further down. */
  rows(context: Context<z.output<S>> & SourceContext): AsyncIterable<{ row: Row; place: string }>
  /**
   * What the rows follow from, as JSON, told without reading them: size and times of a file, the hash of a dataset. Equal
   * answers mean equal rows, so that rows which are cached need not be read again. Without it they are read at every start.
   */
  identity?(context: Context<z.output<S>> & SourceContext): Promise<unknown>
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
