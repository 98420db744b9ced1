// Plugins that train: algorithms and backends.
import type * as z from 'zod'
import type { Rollout } from './execution.ts'
import type { OpenInferenceClient, OpenRenderer, Tokenizer } from './inference-plugins.ts'
import type { Context, Plugin, PluginSpec } from './plugin.ts'
import type { Metrics } from './quantity.ts'
import type { RunResult } from './results.ts'
import type { RowFormat, RowOf } from './rows.ts'
import type { ModelConfig, RunConfig } from './run-config.ts'
import type { Datum, FwdBwd, Loss, ModelId, SamplerRef, TrainingService, Weights } from './training-service.ts'

/** What an algorithm has at hand in one step. */
export interface StepContext<P, F extends RowFormat = RowFormat> extends Context<P> {
  /** 0-based. */
  readonly step: number
  /** 0-based number of this batch: the step itself, unless a step has several batches. */
  readonly batchIndex: number
  readonly numSteps: number
  /** All training rows, in data order. */
  readonly rows: readonly RowOf[F][]
  /** The rows of this batch: `size` of them, each epoch in its own keyed order. */
  batch(size: number): readonly RowOf[F][]
  readonly renderer: OpenRenderer
  readonly tokenizer: Tokenizer
  /**
   * The weights as this step finds them. Saved when first asked for; asking again gives the same. They are released when the
   * step is over.
   */
  policy(): Promise<SamplerRef>
  /** The same weights for longer than this step: until they are released, or until steps are done again. */
  keepPolicy(): Promise<KeptPolicy>
  /**
   * A later step, for rollouts that begin before it and are reported with it; `steps` from here. Undefined: the recipe ends before.
   */
  later(steps: number): LaterStep<F> | undefined
  /** The weights that the run started from, also after a resume: the reference of a KL penalty, the teacher of SDFT. */
  readonly reference: Weights
  /** The base model as it came. */
  readonly base: Weights
  /** The agent that the run names for rollouts; absent: none. */
  readonly agent?: PluginSpec | undefined
  /** Samples from a policy and scores the outcome. */
  readonly rollout: Rollout
  readonly service: Pick<TrainingService, 'sample'>
  /** Models beside the one in training: teachers. */
  readonly others: OtherModels
  /** Made once per run, then kept; made again after a resume. What a step needs from an earlier one goes here. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
}

/** How a recipe reaches models that it does not train. */
export interface OtherModels {
  /** Saved weights by their address, or the final weights of another arm by `arm:NAME`. */
  weights(checkpoint: string): SamplerRef
  /** How a base model of the service writes: tokens of one model are tokens of another only where both write alike. */
  tokenizerOf(baseModel: string): Promise<Tokenizer>
  /** A model that answers in text, by name or client. Its answers are kept: asking again, also after a resume, costs nothing. */
  client(which: string | PluginSpec): Promise<OpenInferenceClient>
}

/** A step that is yet to come, as far as it can be worked on. Its work ends when steps are done again. */
export type LaterStep<F extends RowFormat = RowFormat> = Pick<
  StepContext<unknown, F>,
  'step' | 'batchIndex' | 'batch' | 'rollout' | 'signal'
>

/** Weights to sample from, kept by the caller that asked for them. */
export interface KeptPolicy {
  readonly weights: SamplerRef
  /** Optimiser steps that they had seen. */
  readonly version: number
  release(): Promise<void>
}

/** The context before the first step. */
export type SetupContext<P, F extends RowFormat = RowFormat> = Omit<
  StepContext<P, F>,
  'step' | 'batchIndex' | 'keepPolicy' | 'later'
>

/** What a step did: the batch that was built and what the service answered. */
export interface StepOutcome {
  readonly built: Batch
  readonly result: FwdBwd
}

/** What one step trains on. An empty batch skips the update. */
export interface Batch {
  readonly data: readonly Datum[]
  readonly loss: Loss
  readonly metrics?: Metrics | undefined
}

/**
 * An algorithm with `train` drives the run itself and gets the run's context once. Only it knows where it stands, so a run that was
 * interrupted begins it anew.
 */
export interface TrainContext<P, F extends RowFormat = RowFormat>
  extends Omit<SetupContext<P, F>, 'service' | 'policy' | 'once'> {
  readonly runId: string
  readonly run: RunConfig
  readonly modelId: ModelId
  /**
   * The model in training. Requests are numbered from 1, without gaps where `report` is called; what is saved becomes a
   * checkpoint of the step that follows the last reported one.
   */
  readonly service: TrainingService
  /**
   * Records a finished step, 0-based and in order, and scores the benchmarks that are due. Resolves to the reason to end, where
   * a callback asked for it; rejects when the run has to leave.
   */
  report(step: number, metrics: Metrics): Promise<string | undefined>
  readonly prompts: PromptTrial
}

/** System prompts in place of those of the benchmarks, for a recipe that searches words. */
export interface PromptTrial {
  /**
   * Scores the weights of the run with a system prompt on the validation benchmark of the objective, as a step of the run. An
   * empty prompt is none. `stop`: why a callback asks to end.
   */
  validate(
    step: number,
    systemPrompt: string,
  ): Promise<{ score: number; metrics: Metrics; isBest: boolean; stop: string | undefined }>
  /** From here on every benchmark is answered with this prompt. */
  use(systemPrompt: string): void
}

interface AlgorithmBase<K extends string, S extends z.ZodType, F extends RowFormat> extends Plugin<'algorithm', K, S> {
  /** The rows it trains on. */
  readonly rowFormat: F
}

/** A recipe that is part of another one. */
export interface PhaseSpec {
  readonly kind: string
  readonly params: Readonly<Record<string, unknown>>
  /** Unique; stands before the metrics of the phase. */
  readonly label: string
}

/** The mathematics of one step. Does not log, save, schedule or evaluate. */
export interface StepAlgorithm<
  K extends string = string,
  S extends z.ZodType = z.ZodType,
  F extends RowFormat = RowFormat,
> extends AlgorithmBase<K, S, F> {
  buildBatch(context: StepContext<z.output<S>, F>): Promise<Batch>
  setup?(context: SetupContext<z.output<S>, F>): Promise<void>
  /** Batches in `num_epochs` passes over the data, where they are not `batch_size` rows each. */
  countBatches?(context: SetupContext<z.output<S>, F>): Promise<number>
  stepMetrics?(context: StepContext<z.output<S>, F> & StepOutcome): Metrics
  /** Recipes that are run one after the other in its place, on the same rows; it builds no batch itself. */
  phases?(params: z.output<S>): readonly PhaseSpec[]
}

/** What is not a step: prompt search, a chain of phases. */
export interface WholeRunAlgorithm<
  K extends string = string,
  S extends z.ZodType = z.ZodType,
  F extends RowFormat = RowFormat,
> extends AlgorithmBase<K, S, F> {
  /** False: it takes no rows, and the data of the run is not read. */
  readonly takesRows?: boolean | undefined
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
  readonly chatTemplate?: string | undefined
  /** The tokenizer of another base model. Absent: none can be had. */
  tokenizerOf?(baseModel: string): Promise<Tokenizer>
}

/** What answers for weights that were saved at a place to train. */
export interface OpenWeights extends AsyncDisposable {
  /** Draws from saved weights, or from the base model as it came. */
  sample: TrainingService['sample']
  readonly tokenizer: Tokenizer
  /** Longest sequence the model takes. */
  readonly maxContext: number
  readonly chatTemplate?: string | undefined
}

/** A trainer that another process has started for a run. Disposing of it keeps it: it ends with the run. */
export interface GivenTrainer extends AsyncDisposable {
  readonly url: string
  /** A socket of this machine that it listens on. */
  readonly socketPath?: string | undefined
  readonly key: string
  /** Aborted with the reason when it is gone. */
  readonly gone: AbortSignal
}

/** A place to train. */
export interface Backend<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'backend', K, S> {
  open(
    context: Context<z.output<S>> & {
      model: ModelConfig
      loraRank: number | undefined
      seed: number
      runDir: string
      /** Base models that are sampled from beside the one in training; absent: none. */
      otherModels?: readonly string[] | undefined
      /** Where the run has no network: the trainer that it was given. */
      trainer?: (() => Promise<GivenTrainer>) | undefined
      /** Aborted: the run saves and leaves. What gets no answer then is not waited for. */
      stopping?: AbortSignal | undefined
    },
  ): Promise<OpenBackend>
  /** Opens what draws from weights that its runs saved, with no model in training. Absent: `open` is used for that as well. */
  openWeights?(
    context: Context<z.output<S>> & {
      model: ModelConfig
      /** Of the run whose weights they are. */
      runDir: string
    },
  ): Promise<OpenWeights>
}
