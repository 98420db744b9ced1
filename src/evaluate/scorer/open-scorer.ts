// The sealed judge of one benchmark, in a process of its own: it alone holds verifiers, metrics and expected answers.
import type { Benchmark, Prediction, Row, Scored, SealedTask } from '../../contracts/index.ts'
import type { PluginReference } from '../../kernel/index.ts'

export interface ScorerOptions {
  readonly benchmark: Benchmark
  /** Folder of the benchmark, or its tasks as rows. Absent: what `path` or `data` of the benchmark names. */
  readonly file?: string | readonly Row[]
  readonly projectDir: string
  /** What `plugins:` of the experiment names. */
  readonly plugins: readonly PluginReference[]
  /** Those that verifiers declare. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Longest that one verification may take. */
  readonly verifierMs?: number
  readonly signal: AbortSignal
}

export interface OpenScorer extends AsyncDisposable {
  /** Covers tasks, verifiers, metrics and their code. Results compare only where it is equal. */
  readonly hash: string
  /** What a worker may know: id and instruction, in benchmark order. */
  sealedTasks(): readonly SealedTask[]
  /** Scores answers. A scorer that dies is started again once; dying twice is an error of this evaluation. */
  score(predictions: readonly Prediction[], signal?: AbortSignal): Promise<Scored>
}

export type OpenScorerFunction = (options: ScorerOptions) => Promise<OpenScorer>
