// Plugins that score and roll out: metrics, verifiers, agents, environments.
import type * as z from 'zod'
import type { ExecResult, ExecSpec, Level, Sampling, SandboxProcess, Usage } from './execution.ts'
import type { OpenInferenceClient } from './inference-plugins.ts'
import type { Direction } from './metadata.ts'
import type { Context, Plugin, PluginSpec } from './plugin.ts'
import type { MetricRange, MetricTable } from './quantity.ts'
import type { HarborTask } from './rows.ts'

/**
 * Rewards by task, then sample. A task whose samples all failed stays in the list: it counts. A reward that infrastructure
 * left open is filled in by the caller, once with the worst and once with the best value, to bound the metric.
 */
export type TaskRewards = readonly (readonly number[])[]

/** What was answered, by task, then sample; undefined where there is no answer. */
export type TaskAnswers = readonly (readonly (string | undefined)[])[]

/** One answer as a metric sees it; its reward stands in `rewards`, at the same place. */
export interface MetricSample {
  /** Absent: infrastructure failed, and the reward is filled in: right at best, wrong at worst. An empty answer is an empty text. */
  readonly output?: string | undefined
  /** Of the tokens of the answer, in order; absent where the model does not report them. */
  readonly logprobs?: readonly number[] | undefined
  /** Absent: unknown. */
  readonly promptTokens?: number | undefined
  readonly completionTokens?: number | undefined
}

/** A task of the benchmark with its answers. */
export interface MetricTask {
  readonly taskId: string
  readonly instruction: string
  /** Absent where nothing is compared with: a task folder. */
  readonly expected?: unknown
  readonly metadata: Readonly<Record<string, unknown>>
  readonly samples: readonly MetricSample[]
}

/** Several numbers, a table, or both. */
export interface MetricResult {
  /** The number that goes by the name of the metric. */
  readonly value?: number | undefined
  /** Further numbers by key: `f1:billing` of `per_class` is the metric `per_class/f1:billing`. Undefined: there is none. */
  readonly values?: Readonly<Record<string, number | undefined>> | undefined
  readonly table?: MetricTable | undefined
}

export interface MetricContext<P> {
  readonly params: P
  readonly usage: readonly (readonly Usage[])[]
  readonly answers?: TaskAnswers | undefined
  /** In the order of `rewards`. Frozen. Absent where rewards are all there is: trials of task folders. */
  readonly tasks?: readonly MetricTask[] | undefined
}

/** Numbers, and perhaps a table, from the answers to a benchmark. */
export interface Metric<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'metric', K, S> {
  /** Which way is better. */
  readonly direction: Direction
  /** The least and the most that it can be, null without end: intervals and effects stay within. Absent: unknown. */
  readonly range?: MetricRange | undefined
  /** Samples per task that it needs at least; checked against num_samples before anything starts. */
  minSamples?(params: z.output<S>): number
  /**
   * One number, or several of them and a table; undefined where the usage or the answers that it needs are not known. It is called for
   * parts of the tasks as well: intervals are made of its values without each task.
   */
  compute(rewards: TaskRewards, context: MetricContext<z.output<S>>): number | MetricResult | undefined
}

/** A reward with what led to it. */
export interface Verification {
  readonly reward: number
  readonly info?: Readonly<Record<string, unknown>> | undefined
}

/** Scores answers. */
export interface Verifier<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'verifier', K, S> {
  /** Scores one answer. 1 or more is a pass. */
  verify(
    answer: { output: string; expected: unknown; task?: HarborTask | undefined },
    context: Context<z.output<S>> & {
      /** A model to ask, by name or client: its answers are kept, and asking again costs nothing. At hand in a benchmark. */
      model?(which: string | PluginSpec): Promise<OpenInferenceClient>
      /** Opens a place for code that a model wrote, with an empty folder `/work`; absent: this process may open one itself. */
      openSandbox?(): Promise<OpenEnvironment>
    },
  ): number | Verification | Promise<number | Verification>
}

/** A command in an environment; what is absent is the environment's. */
export type EnvironmentCommand = Omit<ExecSpec, 'limits'> & {
  readonly limits?: Partial<ExecSpec['limits']> | undefined
  /** Account that runs it; absent: the environment's. */
  readonly user?: string | number | undefined
}

/** Where a task happens: files and commands. Paths are those inside. */
export interface OpenEnvironment extends AsyncDisposable {
  /** How well it is shut in. */
  readonly level: Level
  /** Where commands start. */
  readonly workdir: string
  exec(command: EnvironmentCommand, signal: AbortSignal): Promise<ExecResult>
  spawn(command: EnvironmentCommand, signal: AbortSignal): Promise<SandboxProcess>
  read(path: string): Promise<Uint8Array>
  write(path: string, bytes: Uint8Array): Promise<void>
  /** Copies a folder or file of this machine to `target`, over what is there. */
  upload(source: string, target: string): Promise<void>
  /** Copies a folder or file of the environment to this machine; links that lead outside are not followed. */
  download(source: string, target: string): Promise<void>
  /** Leaves an empty folder, whatever was there. */
  empty(path: string): Promise<void>
  /** Ends every process inside. */
  killAll(): Promise<void>
}

/** A task as a folder in Harbor's layout. */
export interface TaskFolder {
  readonly path: string
  /** Name of the step that is attempted, in a task of several. */
  readonly step?: string | undefined
  /** `verifier`: the environment of a separate verifier, whose build context is the folder of tests. */
  readonly role?: 'verifier' | undefined
}

/** A kind of place where tasks happen: none, a local sandbox, a container. */
export interface Environment<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'environment', K, S> {
  /** `stateDir`: an empty folder of the trial, for the files of the environment. */
  open(
    context: Context<z.output<S>> & { task: HarborTask; folder?: TaskFolder | undefined; stateDir: string },
  ): Promise<OpenEnvironment>
}

/** A harness: the loop in which a model works on a task. */
export interface Agent<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'agent', K, S> {
  /**
   * One attempt at a task. The policy is the client: whatever is trained or compared answers through it. Its calls are
   * recorded as turns by the caller of the agent, so they outlive an agent that fails.
   */
  run(
    context: Context<z.output<S>> & {
      task: HarborTask
      policy: OpenInferenceClient
      /** Absent: the task is answered in words. */
      environment?: OpenEnvironment | undefined
      /** Absent: the task is a row. An agent that is compared or trained has no business in it; `oracle` has. */
      folder?: TaskFolder | undefined
      /** Where it may leave files for the record of the trial; absent: nowhere. */
      logsDir?: string | undefined
      sampling: Sampling
      maxTurns: number
    },
  ): Promise<{
    output: string
    /** What its turns earned by themselves, in order; `rl` counts it with `credit: turn`. Absent: nothing. */
    turnRewards?: readonly number[] | undefined
  }>
}
