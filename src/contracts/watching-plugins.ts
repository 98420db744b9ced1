// Plugins that watch: callbacks and log stores. They change nothing of what they see, but a callback may ask a run to stop.
import type * as z from 'zod'
import type { ErrorRecord } from './error.ts'
import type { Metrics } from './events.ts'
import type { Context, Plugin } from './plugin.ts'
import type { ArmResult, ExperimentResult } from './results.ts'
import type { Row } from './rows.ts'
import type { RunConfig } from './run-config.ts'
import type { Ref } from './training-service.ts'

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

/**
 * Hooks in the order of an experiment's life. A hook that throws is reported and skipped; training goes on.
 *
 * The hooks of a run, from `onRunStart` to `onRunEnd`, are called in the worker that does the run: a callback is opened there
 * once for every run, and again when a run that was interrupted goes on. Such a run has no `onRunEnd` until it really ends.
 *
 * The hooks of the experiment, `onExperimentStart`, `onGroupStart` and `onExperimentEnd`, are called in a process of their own,
 * where the callbacks of the experiment file are opened once more, without secrets: once each time the experiment is started or
 * goes on, an arm whose runs were all finished before excepted. The controller, which holds the record and the keys, calls none.
 */
export interface CallbackHooks {
  onExperimentStart?(scope: CallbackScope): Promise<void> | void
  onGroupStart?(scope: CallbackScope, arm: string): Promise<void> | void
  onRunStart?(scope: CallbackScope): Promise<void> | void
  onTrainData?(scope: CallbackScope, rows: readonly Row[]): Promise<void> | void
  /**
   * Training begins at `scope.step`, or begins again there: after an interruption, or after a roll-back. What was told of later
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
    result: { status: string; metrics: Metrics; error?: ErrorRecord },
    arm?: ArmResult,
  ): Promise<void> | void
  onExperimentEnd?(scope: CallbackScope, result: ExperimentResult): Promise<void> | void
}

/** Watches an experiment. */
export interface Callback<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'callback', K, S> {
  open(context: Context<z.output<S>>): Promise<CallbackHooks & Partial<AsyncDisposable>>
}
