// Plugins that score and roll out: metrics, verifiers, inference clients, agents, environments.
import * as z from 'zod'
import type { ExecResult, ExecSpec, Level, Sampling, SandboxProcess, TurnTokens, Usage } from './execution.ts'
import type { Direction } from './metadata.ts'
import type { Context, Plugin } from './plugin.ts'
import type { PluginSpec } from './plugin-spec.ts'
import type { ChatMessage, HarborTask, ToolCall } from './rows.ts'
import type { TokenSampler } from './token-sampler.ts'

/**
 * Rewards by task, then sample. A task whose samples all failed stays in the list: it counts. A reward that infrastructure
 * left open is filled in by the caller, once with the worst and once with the best value, to bound the metric.
 */
export type TaskRewards = readonly (readonly number[])[]

/** What was answered, by task, then sample; undefined where there is no answer. */
export type TaskAnswers = readonly (readonly (string | undefined)[])[]

/** One number from the rewards of a benchmark. */
export interface Metric<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'metric', K, S> {
  /** Which way is better. */
  readonly direction: Direction
  /** Samples per task that it needs at least; checked against num_samples before anything starts. */
  minSamples?(params: z.output<S>): number
  /** One number, or undefined where the usage or the answers that it needs are not known. */
  compute(
    rewards: TaskRewards,
    context: { params: z.output<S>; usage: readonly (readonly Usage[])[]; answers?: TaskAnswers },
  ): number | undefined
}

/** A reward with what led to it. */
export interface Verification {
  readonly reward: number
  readonly info?: Readonly<Record<string, unknown>>
}

/** Scores answers. */
export interface Verifier<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'verifier', K, S> {
  /** Scores one answer. 1 or more is a pass. */
  verify(
    answer: { output: string; expected: unknown; task?: HarborTask },
    context: Context<z.output<S>> & {
      /** A model to ask, by name or client: its answers are kept, and asking again costs nothing. At hand in a benchmark. */
      model?(which: string | PluginSpec): Promise<OpenInferenceClient>
    },
  ): number | Verification | Promise<number | Verification>
}

/** A function that the model may call: its parameters as JSON Schema. */
export interface ToolSpec {
  readonly name: string
  readonly description?: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A conversation to be continued, and how. */
export interface GenerateRequest extends Sampling {
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ToolSpec[]
  readonly stop?: readonly string[]
  readonly seed: number
}

/** Dollars for a million tokens. */
export const TokenPrice = z.strictObject({
  input: z.number().min(0).describe('Dollars for a million prompt tokens.'),
  output: z.number().min(0).describe('Dollars for a million completion tokens.'),
  cache_read: z.number().min(0).optional().describe('For prompt tokens out of the cache; absent: as `input`.'),
  cache_write: z.number().min(0).optional().describe('For prompt tokens put into the cache; absent: as `input`.'),
})
export type TokenPrice = z.infer<typeof TokenPrice>

/** An answer. */
export interface Generated {
  readonly text: string
  readonly reasoning?: string
  readonly toolCalls?: readonly ToolCall[]
  readonly usage: Usage
  /** `refused`: the provider's filter or the model declined. It is an answer, not a failure. */
  readonly stopReason: 'stop' | 'length' | 'tool_calls' | 'refused'
  /** The model that answered, as its provider names it. */
  readonly model?: string
  /** What `usage.costUsd` was computed with, so that it can be computed again. */
  readonly price?: TokenPrice
  /** Read from a cassette: nothing was sent and nothing was paid. */
  readonly replayed?: boolean
  /** Present where the model is served here; absent for most APIs. */
  readonly tokens?: TurnTokens
}

/** A model that answers. */
export interface OpenInferenceClient extends Partial<AsyncDisposable> {
  /** False: tools cannot be declared to it, and have to be described in words. Absent: nothing says so. */
  readonly takesTools?: boolean
  generate(request: GenerateRequest, signal: AbortSignal): Promise<Generated>
  /** Present where conversations become tokens here. What records or replays answers leaves it out: it would be passed by. */
  readonly sampler?: TokenSampler
}

/** How a model is reached: an API, or weights served here. */
export interface InferenceClient<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'inference_client', K, S> {
  open(context: Context<z.output<S>>): Promise<OpenInferenceClient>
}

/** A command in an environment; what is absent is the environment's. */
export type EnvironmentCommand = Omit<ExecSpec, 'limits'> & {
  readonly limits?: Partial<ExecSpec['limits']>
  /** Account that runs it; absent: the environment's. */
  readonly user?: string | number
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
  readonly step?: string
  /** `verifier`: the environment of a separate verifier, whose build context is the folder of tests. */
  readonly role?: 'verifier'
}

/** A kind of place where tasks happen: none, a local sandbox, a container. */
export interface Environment<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'environment', K, S> {
  /** `stateDir`: an empty folder of the trial, for the files of the environment. */
  open(
    context: Context<z.output<S>> & { task: HarborTask; folder?: TaskFolder; stateDir: string },
  ): Promise<OpenEnvironment>
}

/** A harness: how a model is led through a task. */
export interface Agent<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'agent', K, S> {
  /**
   * One attempt at a task. The policy is the client: whatever is trained or compared answers through it. Its calls are
   * recorded as turns by whoever runs the agent, so they outlive an agent that fails.
   */
  run(
    context: Context<z.output<S>> & {
      task: HarborTask
      policy: OpenInferenceClient
      /** Absent: the task is answered in words. */
      environment?: OpenEnvironment
      /** Absent: the task is a row. An agent that is compared or trained has no business in it; `oracle` has. */
      folder?: TaskFolder
      /** Where it may leave files for the record of the trial; absent: nowhere. */
      logsDir?: string
      sampling: Sampling
      maxTurns: number
    },
  ): Promise<{
    output: string
    /** What its turns earned by themselves, in order; `rl` counts it with `credit: turn`. Absent: nothing. */
    turnRewards?: readonly number[]
  }>
}
