// Plugins that make a run: data sources and stores, transforms, algorithms, backends, renderers, callbacks, log stores.
import type * as z from 'zod'
import type { ErrorRecord } from './error.ts'
import type { Metrics } from './events.ts'
import type { Rollout } from './execution.ts'
import type { Context, Plugin } from './plugin.ts'
import type { ArmResult, ExperimentResult, RunResult } from './results.ts'
import type { ChatMessage, Row, RowFormat, RowOf } from './rows.ts'
import type { DataConfig, ModelConfig, RunConfig } from './run-config.ts'
import type {
  Datum,
  FwdBwd,
  Loss,
  ModelId,
  Ref,
  SamplerRef,
  Stop,
  TrainingService,
  Weights,
} from './training-service.ts'

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

/** A place that metrics are also written to. */
export interface OpenLogStore extends AsyncDisposable {
  metrics(step: number, split: string, metrics: Metrics): Promise<void>
  hyperparams(values: Row): Promise<void>
  artifact(name: string, ref: string, kind: string): Promise<void>
}

/** Opens a log store for a run. */
export interface LogStore<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'log_store', K, S> {
  open(context: Context<z.output<S>>): Promise<OpenLogStore>
}

/** Text to tokens and back, for one model. */
export interface Tokenizer {
  /** Without `special`, text that spells a special token is plain text: content cannot forge the end of a turn. */
  encode(text: string, options?: { special?: boolean }): Int32Array
  decode(tokens: Int32Array): string
  readonly vocabSize: number
}

/** Tokens of a conversation, with the message that each token belongs to. */
export interface Rendered {
  readonly tokens: Int32Array
  /** Per token: index of its message, or -1 for template text. */
  readonly message: Int32Array
  /** Per token: 1 where an assistant would have to produce it. */
  readonly produced: Uint8Array
}

/** Conversations as the tokens of one model, and back. */
export interface OpenRenderer {
  /** A whole conversation, for training. */
  conversation(messages: readonly ChatMessage[]): Rendered
  /** Up to where the assistant answers, for sampling. */
  prompt(messages: readonly ChatMessage[]): Int32Array
  /** The message that an answer amounts to: text, reasoning, tool calls. `complete`: it ended as an answer should. */
  parse(completion: Int32Array): { message: ChatMessage; complete: boolean }
  /** What ends an answer. */
  readonly stop: Stop
}

/** A chat format. */
export interface Renderer<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'renderer', K, S> {
  open(context: Context<z.output<S>> & { tokenizer: Tokenizer; chatTemplate?: string }): Promise<OpenRenderer>
}

/** What an algorithm has at hand in one step. */
export interface StepContext<P, F extends RowFormat = RowFormat> extends Context<P> {
  /** 0-based. */
  readonly step: number
  readonly numSteps: number
  /** All training rows, in data order. */
  readonly rows: readonly RowOf[F][]
  /** The rows of this step: `batch_size` of them, each epoch in its own keyed order. */
  batch(size: number): readonly RowOf[F][]
  readonly renderer: OpenRenderer
  readonly tokenizer: Tokenizer
  /** The weights as this step finds them. Saved when first asked for; asking again gives the same. */
  policy(): Promise<SamplerRef>
  /** The weights that the run started from, also after a resume: the reference of a KL penalty, the teacher of SDFT. */
  readonly reference: Weights
  /** Samples from a policy and scores the outcome. */
  readonly rollout: Rollout
  readonly service: Pick<TrainingService, 'sample'>
  /** Made once per run, then kept; made again after a resume. What a step needs from an earlier one goes here. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
}

/** The context before the first step. */
export type SetupContext<P, F extends RowFormat = RowFormat> = Omit<StepContext<P, F>, 'step'>

/** What a step did: the batch that was built and what the service answered. */
export interface StepOutcome {
  readonly built: Batch
  readonly result: FwdBwd
}

/** What one step trains on. An empty batch skips the update. */
export interface Batch {
  readonly data: readonly Datum[]
  readonly loss: Loss
  readonly metrics?: Metrics
}

/** A whole-run algorithm drives the run itself and gets the run's context once. */
export interface TrainContext<P, F extends RowFormat = RowFormat>
  extends Omit<SetupContext<P, F>, 'service' | 'policy' | 'once'> {
  readonly runId: string
  readonly run: RunConfig
  readonly modelId: ModelId
  readonly service: TrainingService
  /** Records a finished step. */
  report(step: number, metrics: Metrics): Promise<void>
}

interface AlgorithmBase<K extends string, S extends z.ZodType, F extends RowFormat> extends Plugin<'algorithm', K, S> {
  /** The rows it trains on. */
  readonly rowFormat: F
}

/** The mathematics of one step. Does not log, save, schedule or evaluate. */
export interface StepAlgorithm<
  K extends string = string,
  S extends z.ZodType = z.ZodType,
  F extends RowFormat = RowFormat,
> extends AlgorithmBase<K, S, F> {
  buildBatch(context: StepContext<z.output<S>, F>): Promise<Batch>
  setup?(context: SetupContext<z.output<S>, F>): Promise<void>
  stepMetrics?(context: StepContext<z.output<S>, F> & StepOutcome): Metrics
}

/** What is not a step: prompt search, a chain of phases. */
export interface WholeRunAlgorithm<
  K extends string = string,
  S extends z.ZodType = z.ZodType,
  F extends RowFormat = RowFormat,
> extends AlgorithmBase<K, S, F> {
  train(context: TrainContext<z.output<S>, F>): Promise<RunResult>
}

/** A training recipe: one step at a time, or a whole run. */
export type Algorithm<K extends string = string, S extends z.ZodType = z.ZodType, F extends RowFormat = RowFormat> =
  | StepAlgorithm<K, S, F>
  | WholeRunAlgorithm<K, S, F>

/** A place to train, opened for one run. */
export interface OpenBackend extends AsyncDisposable {
  readonly service: TrainingService
  readonly modelId: ModelId
  /** What decides the bytes of its results, as text. A run resumes on an equal one alone. */
  readonly engineId: string
  readonly tokenizer: Tokenizer
  /** Longest sequence the model takes. */
  readonly maxContext: number
  readonly chatTemplate?: string
}

/** A place to train. */
export interface Backend<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'backend', K, S> {
  open(
    context: Context<z.output<S>> & { model: ModelConfig; loraRank: number | undefined; seed: number; runDir: string },
  ): Promise<OpenBackend>
}

/** Where a callback stands: filled in as the experiment goes on. */
export interface CallbackScope {
  readonly experimentId: string
  readonly experiment: string
  readonly outputDir: string
  readonly hypothesis?: string
  readonly run?: {
    readonly runId: string
    readonly name: string
    readonly arm: string
    readonly seed: number
    readonly dir: string
    readonly config: RunConfig
  }
}

/** Where a callback stands while a run trains. */
export interface StepScope extends CallbackScope {
  readonly step: number
  readonly numSteps: number
  /** Ends training after this step; the run counts as completed. */
  requestStop(reason: string): void
}

/** Hooks in the order of an experiment's life. A hook that throws is reported and skipped; training goes on. */
export interface CallbackHooks {
  onExperimentStart?(scope: CallbackScope): Promise<void> | void
  onGroupStart?(scope: CallbackScope, arm: string): Promise<void> | void
  onRunStart?(scope: CallbackScope): Promise<void> | void
  onTrainData?(scope: CallbackScope, rows: readonly Row[]): Promise<void> | void
  onTrainStart?(scope: StepScope): Promise<void> | void
  onRollout?(scope: StepScope, rollouts: readonly Row[]): Promise<void> | void
  onStepEnd?(scope: StepScope, metrics: Metrics): Promise<void> | void
  onCheckpoint?(scope: StepScope, ref: Ref): Promise<void> | void
  onEval?(scope: StepScope, benchmark: string, split: string, metrics: Metrics): Promise<void> | void
  onTrainEnd?(scope: StepScope, artifacts: readonly Ref[]): Promise<void> | void
  onBenchmarkEval?(
    scope: CallbackScope,
    benchmark: string,
    split: string,
    metrics: Metrics,
    predictions: readonly Row[],
    step?: number,
  ): Promise<void> | void
  onRunEnd?(
    scope: CallbackScope,
    result: { status: string; metrics: Metrics; error?: ErrorRecord },
    arm?: ArmResult,
  ): Promise<void> | void
  onExperimentEnd?(scope: CallbackScope, result: ExperimentResult): Promise<void> | void
}

/** Watches an experiment. */
export interface Callback<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'callback', K, S> {
  open(context: Context<z.output<S>>): Promise<CallbackHooks & Partial<AsyncDisposable>>
}
