// The trials of a job: attempts outermost, then tasks, then agents, so that every task and every agent gets on evenly.

import { createHash } from 'node:crypto'
import { hashOf } from '../../kernel/index.ts'
import type { LoadedTask } from '../task/index.ts'
import { type AgentChoice, agentName, TrialConfig } from '../trial/trial-config.ts'
import type { JobConfig } from './job-config.ts'

/** A task of a job: read, or the reason why it could not be. */
export interface JobTask {
  readonly path: string
  /** `[task].name`, or the name of the folder. */
  readonly name: string
  /** Name of the dataset it is part of. */
  readonly source?: string | undefined
  /** Absent: `error` says why. */
  readonly task?: LoadedTask | undefined
  readonly error?: unknown
}

export interface PlannedTrial {
  readonly config: TrialConfig
  readonly jobTask: JobTask
  readonly agent: AgentChoice
  readonly agentIndex: number
  /** From 1. */
  readonly attempt: number
}

export function planTrials(jobId: string, config: JobConfig, tasks: readonly JobTask[]): PlannedTrial[] {
  const trials: PlannedTrial[] = []
  for (let attempt = 1; attempt <= config.n_attempts; attempt++) {
    for (const jobTask of tasks) {
      for (const [agentIndex, agent] of config.agents.entries()) {
        const { task, path, source } = jobTask
        trials.push({
          jobTask,
          agent,
          agentIndex,
          attempt,
          config: TrialConfig.parse({
            timeout_multiplier: config.timeout_multiplier,
            agent_timeout_multiplier: config.agent_timeout_multiplier,
            verifier_timeout_multiplier: config.verifier_timeout_multiplier,
            trial_timeout_sec: config.trial_timeout_sec,
            agent_setup_timeout_multiplier: config.agent_setup_timeout_multiplier,
            environment_build_timeout_multiplier: config.environment_build_timeout_multiplier,
            task: { path: task?.path ?? path, source },
            trial_name: trialName(jobTask.name, jobId, path, agentIndex, agentName(agent), attempt),
            agent,
            environment: config.environment,
            verifier: config.verifier,
            artifacts: config.artifacts,
            job_id: jobId,
          }),
        })
      }
    }
  }
  return trials
}

/** Agents with the same key share the cap on their runs. */
export function concurrencyKey({ concurrency_group, n_concurrent: _cap, ...identity }: AgentChoice): string {
  return concurrency_group === undefined
    ? `agent:${hashOf(JSON.parse(JSON.stringify(identity)))}`
    : `group:${concurrency_group}`
}

// Names of trials: the task for people, seven characters for uniqueness. They are derived, not drawn: the same place in the same job
// always has the same name, so a job that starts again finds every trial where it left it.

const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** `<32 characters of the task's short name>__<7 characters of the key>`. */
export function trialName(taskName: string, ...key: readonly (string | number)[]): string {
  const short = (taskName.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '')
  return `${short.slice(0, 32).replace(/[_-]+$/, '') || 'task'}__${suffix(key)}`
}

function suffix(key: readonly (string | number)[]): string {
  let rest = createHash('sha256').update(JSON.stringify(key)).digest().readBigUInt64BE()
  let text = ''
  for (let i = 0; i < 7; i++, rest /= BigInt(alphabet.length)) text += alphabet[Number(rest % BigInt(alphabet.length))]
  return text
}
