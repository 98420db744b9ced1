// What a trial is asked to do, and what its parts share while it runs.
import { join } from 'node:path'
import type { HarborTask, OpenEnvironment, TaskFolder, Turn } from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'
import type { HostEnv, LoadedTask } from '../task/index.ts'
import type { RunTrialAgent } from './run-agent-phase.ts'
import type { TrialConfig } from './trial-config.ts'
import type { TrialRecord } from './trial-record.ts'
import type { AgentInfo, TrialResult } from './trial-result.ts'

/** What happens in a trial, for those who watch. */
export type TrialEvent =
  | 'start'
  | 'environment-start'
  | 'agent-start'
  | 'agent-end'
  | 'verification-start'
  | 'end'
  | 'cancel'

export interface TrialRequest {
  readonly task: LoadedTask
  /** With `trial_name`, which names `dir`. */
  readonly config: TrialConfig
  readonly trialId: string
  /** Folder of the record; it is made. */
  readonly dir: string
  openEnvironment(
    place: { task: HarborTask; folder: TaskFolder; stateDir: string },
    signal: AbortSignal,
  ): Promise<OpenEnvironment>
  readonly agentInfo: AgentInfo
  /** Puts tools of the agent in place. */
  setupAgent?: ((environment: OpenEnvironment, signal: AbortSignal) => Promise<void>) | undefined
  readonly runAgent: RunTrialAgent
  /** Waits until the agent may run; the time does not count. */
  agentTurn?: ((signal: AbortSignal) => Promise<Disposable>) | undefined
  /** Variables of this machine, for templates. */
  readonly hostEnv: HostEnv
  /** Values that no file may hold, by name, besides those of secret-looking variables. */
  readonly secrets?: Readonly<Record<string, string>> | undefined
  readonly clock?: Clock | undefined
  /** How long aborted work of others has to come to an end. Default 5 s. */
  readonly graceMs?: number | undefined
  readonly signal: AbortSignal
  onEvent?: ((event: TrialEvent) => void) | undefined
}

export interface TrialOutcome {
  readonly result: TrialResult
  /** The number that counts; absent: there is none, or infrastructure failed. */
  readonly reward?: number | undefined
  /** Turns of the agent, of all steps in order. */
  readonly turns: readonly Turn[]
}

export interface TrialScope {
  readonly request: TrialRequest
  readonly record: TrialRecord
  readonly signal: AbortSignal
  readonly agentEnv: Readonly<Record<string, string>>
  /** A wait that the deadline of the trial does not count. */
  uncounted<T>(wait: () => Promise<T>): Promise<T>
  readonly turns: Turn[]
  /** The task as agents and environments get it. */
  readonly row: HarborTask
}

/** Where the environments of a trial keep their files while it runs. */
export function stateFolder(dir: string): string {
  return join(dir, '.environment')
}
