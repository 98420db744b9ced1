// A database of either kind, as the rest of this room sees it: queries through kysely, and the few things that differ.
import type { Generated, Kysely, Transaction } from 'kysely'
import type { EvsysError } from '../../kernel/index.ts'

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
  /** A consistent copy as a database file, while others write. */
  copyTo(file: string): Promise<void>
  sizeBytes(): Promise<number>
  /** Gives freed space back. */
  compact(): Promise<void>
  /** Time of the server, where machines share one. */
  readonly serverTimeMs?: (() => Promise<number>) | undefined
  /** What a failure of this database means. */
  explain(cause: unknown): EvsysError
}

// The tables of the record. One shape for both databases: text, whole numbers, doubles, and JSON as text.
export interface Tables {
  evsys_meta: { name: string; value: string }
  experiment: ExperimentTable
  arm: { experiment_id: string; name: string; position: number; params: string }
  run: RunTable
  metric_key: { ix: Generated<number>; name: string }
  point: { run_ix: number; key_ix: number; step: number; value: number; at_ms: number }
  point_rollup: RollupTable
  eval: EvalTable
  checkpoint: { run_id: string; step: number; kind: string; ref: string; final: number; dropped: number }
  artifact: { run_id: string; name: string; kind: string; ref: string }
  event: { stream: string; seq: number; type: string; at: string; body: string }
  stream: { name: string; next_item: number; next_event: number }
  job: JobTable
  job_step: { queue: string; job_id: string; step_key: string; output: string }
  lease: { name: string; owner: string; epoch: number; until_ms: number; ttl_ms: number; note: string }
}

/** All tables with rows of the record, those that others refer to first. */
export const TABLE_NAMES = [
  'experiment',
  'arm',
  'run',
  'metric_key',
  'point',
  'point_rollup',
  'eval',
  'checkpoint',
  'artifact',
  'event',
  'stream',
  'job',
  'job_step',
  'lease',
] as const satisfies readonly (keyof Tables)[]

export interface ExperimentTable {
  ix: Generated<number>
  id: string
  name: string
  created_at: string
  finished_at: string | null
  status: string
  hypothesis: string | null
  config_hash: string
  plan: string
  parent_id: string | null
  tags: string
  verdict: string | null
  conclusion: string | null
  evidence: string | null
  /** What an author added: `[{ at, author, text }]`. */
  words: string
  best_arm: string | null
  objective: string | null
  cost_usd: number | null
  wall_s: number | null
  provenance: string
  /** Words of the name, and of everything else that is searched; see search-words.ts. */
  search_name: string
  search_text: string
}

export interface RunTable {
  ix: Generated<number>
  id: string
  experiment_id: string
  arm: string
  name: string
  position: number
  seed: number
  stage: number | null
  after_run: string | null
  /** What it does; `payload` is what runs of this kind hold. */
  kind: string
  payload: string
  config_hash: string
  status: string
  attempt: number
  engine_id: string | null
  code_hash: string | null
  data_hash: string | null
  n_rows: number | null
  num_steps: number | null
  best_step: number | null
  metrics: string
  error: string | null
  /** Of a candidate: why it has no score. */
  failure: string | null
  cost_usd: number | null
  tokens: number | null
  wall_s: number | null
  started_at: string | null
  finished_at: string | null
  /** Why its numbers no longer count. */
  invalid: string | null
  /** Research iterations and imports: what it was derived from and how. */
  parent_run: string | null
  diff: string | null
  category: string | null
  mode: string | null
  kept: number | null
  description: string | null
  /** A score that the run reported of itself; never counts. */
  claimed: string | null
}

/** Sums of the points in `width` steps from step `bucket * width` on; see rollup.ts. */
interface RollupTable {
  run_ix: number
  key_ix: number
  width: number
  bucket: number
  first_step: number
  low: number
  high: number
  total: number
  n: number
}

export interface EvalTable {
  run_id: string
  benchmark: string
  /** -1: after training. */
  step: number
  split: string
  metrics: string
  bounds: string | null
  n_tasks: number
  n_infra_failed: number
  scorer_hash: string
  /** Task id -> rewards by sample, null where infrastructure failed; or these among what else is known of tasks. */
  rewards: string | null
  /** Blob of the answers that were scored. */
  predictions: string | null
  error: string | null
}

interface JobTable {
  queue: string
  id: string
  state: string
  owner: string | null
  epoch: number
  lease_until_ms: number
  attempt: number
  ready_at_ms: number
  ended_at_ms: number | null
  cancel: number
  last_error: string | null
  payload: string
}
