// Interfaces of execution: rollouts, scorer, sandbox, compute providers.
import type { ErrorRecord } from './error.ts'
import type { Params, PluginSpec } from './plugin-spec.ts'
import type { ChatMessage, HarborTask } from './rows.ts'
import type { Ref } from './training-service.ts'

/** Where a random draw belongs: (seed, purpose, step, task, sample, ...). Equal paths give equal draws. */
export type SeedPath = readonly (string | number)[]

/** Whose answers a rollout records: a checkpoint that is trained here, or a model behind an API. */
export type PolicyRef = { readonly checkpoint: Ref } | { readonly model: string; readonly client: PluginSpec }

export interface Turn {
  readonly messages: readonly ChatMessage[]
  readonly promptTokens: Int32Array
  readonly completionTokens: Int32Array
  readonly logprobs: Float64Array
  readonly text: string
}

export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly latencyS: number
  readonly costUsd?: number
}

/** What happened in one attempt at one task. A failure is part of it, never an exception of its siblings. */
export interface Trajectory {
  readonly taskId: string
  readonly sample: number
  readonly turns: readonly Turn[]
  readonly reward?: number
  readonly usage: Usage
  readonly error?: ErrorRecord & { readonly infra: boolean }
}

export type Rollout = (
  request: { task: HarborTask; agent: PluginSpec; policy: PolicyRef; seedPath: SeedPath },
  signal: AbortSignal,
) => Promise<Trajectory>

/** Stored predictions of one evaluation, by content. */
export interface PredictionsRef {
  readonly blob: string
  readonly benchmarkHash: string
}

export interface ScoreRecord {
  readonly scorerHash: string
  readonly metrics: Readonly<Record<string, number>>
  /** Rewards by task, then sample; null where infrastructure failed. */
  readonly rewards: Readonly<Record<string, readonly (number | null)[]>>
}

export interface Scorer {
  readonly hash: string
  score(predictions: PredictionsRef): Promise<ScoreRecord>
}

/** How well untrusted code is shut in, strongest first. */
export type Level = 'container' | 'bubblewrap' | 'chroot' | 'process'

export interface ExecSpec {
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly limits: {
    readonly timeoutMs: number
    readonly memoryBytes: number
    readonly outputBytes: number
    readonly processes: number
    readonly diskBytes: number
  }
}

export interface ExecResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly limitHit?: keyof ExecSpec['limits']
}

export interface Sandbox extends AsyncDisposable {
  readonly level: Level
  exec(spec: ExecSpec, signal: AbortSignal): Promise<ExecResult>
}

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'lost'

export interface JobSpec {
  readonly command: string
  readonly setup?: string
  readonly envs: Readonly<Record<string, string>>
  readonly resources: Params
  readonly workDir: string
}

export interface JobStatus {
  readonly key: string
  readonly state: JobState
  readonly exitCode?: number
  readonly reason?: string
}

/** A place that runs jobs. `key` is ours and idempotent: submitting it twice makes one job. */
export interface ComputeProvider extends AsyncDisposable {
  submit(key: string, spec: JobSpec): Promise<void>
  poll(keys: readonly string[]): Promise<readonly JobStatus[]>
  cancel(key: string): Promise<void>
  logs(key: string, fromByte: number): Promise<{ text: string; nextByte: number }>
  reconcile(): Promise<readonly JobStatus[]>
}
