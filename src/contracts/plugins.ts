// Every plugin type by name. The registry, `define*` and `list` follow from this table.

import type * as z from 'zod'
import type { ErrorRecord } from './error.ts'
import type { ComputeProvider } from './execution.ts'
import type { InferenceClient, Renderer } from './inference-plugins.ts'
import type { Context, Plugin, PluginType } from './plugin.ts'
import type { Metrics } from './quantity.ts'
import type { KeepRule, Proposer, Strategy } from './research-plugins.ts'
import type { ArmResult, ExperimentResult } from './results.ts'
import type { ChatMessage, Row } from './rows.ts'
import type { DataConfig, RunConfig } from './run-config.ts'
import type { Agent, Environment, Metric, Verifier } from './scoring-plugins.ts'
import type { Algorithm, Backend } from './training-plugins.ts'
import type { Ref } from './training-service.ts'

/** The definition of each plugin type. */
export interface PluginTypes<K extends string = string, S extends z.ZodType = z.ZodType> {
  algorithm: Algorithm<K, S>
  backend: Backend<K, S>
  transform: Transform<K, S>
  data_source: DataSource<K, S>
  data_store: DataStore<K, S>
  log_store: LogStore<K, S>
  metric: Metric<K, S>
  verifier: Verifier<K, S>
  inference_client: InferenceClient<K, S>
  callback: Callback<K, S>
  deployer: Deployer<K, S>
  agent: Agent<K, S>
  environment: Environment<K, S>
  renderer: Renderer<K, S>
  proposer: Proposer<K, S>
  strategy: Strategy<K, S>
  keep_rule: KeepRule<K, S>
  provider: Provider<K, S>
  trace_source: TraceSource<K, S>
}

/** A plugin of any type. Does not compile while a type is missing above. */
export type AnyPlugin = PluginTypes[PluginType]

// Plugins that data passes through: sources, transforms, stores.
/** What a data source is handed beside its params. */
export interface SourceContext {
  readonly data: DataConfig
  /** The file that a path of `data` names. */
  resolve(path: string): string
  /** Folder of the project, where there is one: stored datasets lie in it. */
  readonly projectDir?: string | undefined
}

/** Where raw rows come from. */
export interface DataSource<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'data_source', K, S> {
  /** Raw rows in order. `place` names where a row stands (`data/train.jsonl:812`) for errors further down. */
  rows(context: Context<z.output<S>> & SourceContext): AsyncIterable<{ row: Row; place: string }>
  /**
   * What the rows follow from, as JSON, without reading them: size and times of a file, the hash of a dataset. Equal
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

// Plugins that watch: callbacks and log stores. They change nothing of what they see, but a callback may ask a run to stop.
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

/** Where a callback stands: filled in as the experiment proceeds. */
export interface CallbackScope {
  readonly experimentId: string
  readonly experiment: string
  readonly outputDir: string
  readonly hypothesis?: string | undefined
  readonly run?:
    | {
        readonly runId: string
        readonly name: string
        readonly arm: string
        readonly seed: number
        readonly dir: string
        readonly config: RunConfig
      }
    | undefined
}

/** Where a callback stands while a run trains. */
export interface StepScope extends CallbackScope {
  readonly step: number
  readonly numSteps: number
  /** Ends training after this step; the run counts as completed. */
  requestStop(reason: string): void
}

/**
 * Hooks in the order of an experiment's life. A hook that throws is reported and skipped; training continues.
 *
 * The hooks of a run, from `onRunStart` to `onRunEnd`, are called in the worker that does the run: a callback is opened there
 * once for every run, and again when an interrupted run resumes. Such a run has no `onRunEnd` until it really ends.
 *
 * The hooks of the experiment, `onExperimentStart`, `onGroupStart` and `onExperimentEnd`, are called in a separate process,
 * where the callbacks of the experiment file are opened once more, without secrets: once each time the experiment is started or
 * resumed, an arm whose runs were all finished before excepted. The controller, which holds the record and the keys, calls none.
 *
 * In a sandbox a hook can write the folder of its run (`run.dir`); a hook of the experiment can write `callbacks` in `outputDir`.
 */
export interface CallbackHooks {
  onExperimentStart?(scope: CallbackScope): Promise<void> | void
  onGroupStart?(scope: CallbackScope, arm: string): Promise<void> | void
  onRunStart?(scope: CallbackScope): Promise<void> | void
  onTrainData?(scope: CallbackScope, rows: readonly Row[]): Promise<void> | void
  /**
   * Training begins at `scope.step`, or begins again there: after an interruption, or after a roll-back. What was reported of later
   * steps no longer holds, and `onEval` follows for the evaluations that are kept, each at its own step.
   */
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
  /** Before the end is recorded. `arm` is only known once all its runs have ended, so a worker leaves it out. */
  onRunEnd?(
    scope: CallbackScope,
    result: { status: string; metrics: Metrics; error?: ErrorRecord | undefined },
    arm?: ArmResult,
  ): Promise<void> | void
  onExperimentEnd?(scope: CallbackScope, result: ExperimentResult): Promise<void> | void
}

/** Watches an experiment. */
export interface Callback<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'callback', K, S> {
  open(context: Context<z.output<S>>): Promise<CallbackHooks & Partial<AsyncDisposable>>
}

// Plugins around the runs: compute providers, deployers, trace sources.
/** A place that runs jobs: local, slurm, kubernetes. */
export interface Provider<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'provider', K, S> {
  open(context: Context<z.output<S>>): Promise<ComputeProvider>
}

/** A model that is being served, and where. */
export interface Deployment {
  readonly provider: string
  readonly modelRef: string
  readonly endpoint?: string | undefined
  readonly deploymentId?: string | undefined
}

/** Puts a checkpoint into service and takes it back. */
export interface Deployer<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'deployer', K, S> {
  deploy(context: Context<z.output<S>> & { checkpoint: Ref; baseModel: string }): Promise<Deployment>
  rollback?(context: Context<z.output<S>> & { to: Deployment }): Promise<void>
}

/** One production interaction. */
export interface Trace {
  readonly traceId: string
  readonly messages: readonly ChatMessage[]
  readonly feedback: readonly {
    key: string
    score?: number | undefined
    comment?: string | undefined
    turn?: number | undefined
  }[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly at: string
}

/** Where production interactions are read from. */
export interface TraceSource<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'trace_source', K, S> {
  /** Traces after the cursor, oldest first; each with the cursor to resume from. */
  pull(cursor: string | undefined, context: Context<z.output<S>>): AsyncIterable<{ trace: Trace; cursor: string }>
}
