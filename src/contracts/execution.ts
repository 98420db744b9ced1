// Interfaces of execution: rollouts, sandbox, compute providers.
import * as z from 'zod'
import type { RolloutError } from './error.ts'
import type { Params, PluginSpec, SeedPath } from './plugin.ts'
import type { ChatMessage, HarborTask, ToolCall } from './rows.ts'
import type { Weights } from './training-service.ts'

/** Whose answers a rollout records: weights that are served here, or a model behind an API. */
export type PolicyRef =
  /** `version`: optimiser steps that the weights had seen; absent: those of the step that asks. */
  | { readonly weights: Weights; readonly version?: number | undefined }
  | { readonly model: string; readonly client: PluginSpec }

/** How answers are drawn. */
export interface Sampling {
  /** Longest completion of one turn. */
  readonly maxTokens: number
  /** 0 is greedy. */
  readonly temperature: number
  readonly topP?: number | undefined
  readonly topK?: number | undefined
}

/** The exact tokens of one answer, as they were drawn: all that may be trained on. */
export interface TurnTokens {
  /** The whole prompt of this turn. */
  readonly prompt: Int32Array
  readonly completion: Int32Array
  /** Per completion token, under the distribution it was drawn from. */
  readonly logprobs: Float64Array
  /** Optimiser steps that the weights had seen. */
  readonly policyVersion: number
}

/** One answer of the policy and what it answered to. */
export interface Turn {
  readonly messages: readonly ChatMessage[]
  readonly text: string
  readonly toolCalls?: readonly ToolCall[] | undefined
  readonly stopReason: 'stop' | 'length' | 'tool_calls' | 'refused' | 'abort'
  /** Absent where the model does not report them (most APIs): such a turn is never trained on. */
  readonly tokens?: TurnTokens | undefined
}

/** What an answer, or a whole rollout, took. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Part of `promptTokens` that the provider had in its cache; absent: it does not report it. */
  readonly cachedPromptTokens?: number | undefined
  readonly latencyS: number
  /** Absent: unknown. */
  readonly costUsd?: number | undefined
}

/** What happened in one attempt at one task. A failure is part of it, never an exception of its siblings. */
export interface Trajectory {
  readonly taskId: string
  readonly sample: number
  readonly turns: readonly Turn[]
  /** What the verifier read. */
  readonly output?: string | undefined
  /** Absent where nothing was scored: then `error` says why. */
  readonly reward?: number | undefined
  /** All numbers of a verifier that gives several; `reward` is the one that counts. */
  readonly rewards?: Readonly<Record<string, number>> | undefined
  /** What turns earned by themselves, in order, besides `reward`; turns beyond its end earned nothing. */
  readonly turnRewards?: readonly number[] | undefined
  /** The limit that cut it short. */
  readonly truncated?: 'max_tokens' | 'max_turns' | 'context' | undefined
  readonly usage: Usage
  readonly error?: RolloutError | undefined
  /** Attempts before this one that infrastructure ended, in order. */
  readonly failedAttempts?: readonly RolloutError[] | undefined
}

/** One attempt at one task. Rejects only when cancelled: whatever else goes wrong is on the trajectory. */
export type Rollout = (
  request: {
    task: HarborTask
    /** Absent: the agent of the run, or one chat turn where it names none. */
    agent?: PluginSpec | undefined
    policy: PolicyRef
    seedPath: SeedPath
    /** Number of this attempt among those of its task. */
    sample: number
    sampling: Sampling
    /**
     * The agent is cut off after this time; what it left is judged. Absent: after an hour, or what the task folder says. A limit of the
     * agent's own holds beside it.
     */
    timeoutMs?: number | undefined
  },
  signal: AbortSignal,
) => Promise<Trajectory>

/** How well untrusted code is shut in, strongest first. */
export const Level = z.enum(['container', 'bubblewrap', 'chroot', 'process'])
export type Level = z.infer<typeof Level>

/** A command and everything it may use. */
export interface ExecSpec {
  readonly argv: readonly string[]
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly stdin?: string | undefined
  /** Absent: none. */
  readonly network?: boolean | undefined
  readonly limits: {
    readonly timeoutMs: number
    readonly memoryBytes: number
    readonly outputBytes: number
    readonly processes: number
    readonly diskBytes: number
  }
}

/** How a command ended. `signal` names the one that killed it; `limitHit` the limit that made us kill it. */
export interface ExecResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly limitHit?: keyof ExecSpec['limits'] | undefined
  /** Most memory that its processes held together; absent where neither a control group nor polling them says it. */
  readonly peakMemoryBytes?: number | undefined
}

/** A folder or file of this machine that a sandbox shows at `target`. Absent `writable`: read-only. */
export interface Mount {
  readonly source: string
  readonly target: string
  readonly writable?: boolean | undefined
}

/** A command that runs while its caller talks to it. Ending it ends everything that it started. */
export interface SandboxProcess extends AsyncDisposable {
  readonly output: AsyncIterable<{ readonly stream: 'stdout' | 'stderr'; readonly text: string }>
  write(text: string): Promise<void>
  /** Ends its input. */
  end(): Promise<void>
  readonly exit: Promise<ExecResult>
}

/**
 * A place where untrusted code can do no harm beyond its limits. Files stay from one command to the next; a command's processes
 * end with it.
 */
export interface Sandbox extends AsyncDisposable {
  readonly level: Level
  exec(spec: ExecSpec, signal: AbortSignal): Promise<ExecResult>
  spawn(spec: ExecSpec, signal: AbortSignal): Promise<SandboxProcess>
  /** Mounts of the commands that follow, in place of those it was opened with. */
  remount(mounts: readonly Mount[]): void
  /** Ends every process of every command. */
  killAll(): Promise<void>
}

/** `lost`: gone without a result. `unknown`: the provider could not be asked, which changes nothing. */
export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'lost' | 'unknown'

/** What a provider is asked to run. */
export interface JobSpec {
  /** A shell command, as the task file has it. */
  readonly command: string
  readonly setup?: string | undefined
  readonly envs: Readonly<Record<string, string>>
  readonly resources: Params
  readonly workDir: string
}

/** Where a job stands. */
export interface JobStatus {
  readonly key: string
  readonly state: JobState
  readonly exitCode?: number | undefined
  readonly reason?: string | undefined
}

/** A place that runs jobs. `key` is ours and idempotent: submitting it twice makes one job. */
export interface ComputeProvider extends AsyncDisposable {
  submit(key: string, spec: JobSpec): Promise<void>
  poll(keys: readonly string[]): Promise<readonly JobStatus[]>
  cancel(key: string): Promise<void>
  logs(key: string, fromByte: number): Promise<{ text: string; nextByte: number }>
  /** Every job of ours that the provider knows, also those whose submission was interrupted. */
  reconcile(): Promise<readonly JobStatus[]>
}
