// How long each phase of a trial may take: `min(base, max) x (specific multiplier, else the general one)`.
import type { LoadedTask, TaskPart } from '../task/loaded-task.ts'
import type { TrialConfig } from './trial-config.ts'

/** In Harbor an agent's setup has six minutes. */
const SETUP_SEC = 360

/** Limits in milliseconds; absent: none. */
export interface PhaseLimits {
  readonly environmentMs: number
  readonly agentSetupMs: number
  readonly agentMs?: number
  readonly verifierMs: number
}

export function phaseLimits(
  config: TrialConfig,
  task: Pick<LoadedTask, 'config'>,
  part: Pick<TaskPart, 'agent' | 'verification'>,
): PhaseLimits {
  const { agent, verifier } = config
  const agentSec = set(agent.override_timeout_sec) ?? part.agent.timeout_sec
  const verifierSec = set(verifier.override_timeout_sec) ?? part.verification.timeoutSec
  const ms = (baseSec: number, maxSec: number | undefined, specific: number | undefined) =>
    Math.min(baseSec, set(maxSec) ?? Number.POSITIVE_INFINITY) * (specific ?? config.timeout_multiplier) * 1000
  const environmentSec = task.config.environment.build_timeout_sec
  return {
    environmentMs: ms(environmentSec, undefined, config.environment_build_timeout_multiplier),
    agentSetupMs: ms(
      set(agent.override_setup_timeout_sec) ?? SETUP_SEC,
      undefined,
      config.agent_setup_timeout_multiplier,
    ),
    ...agentLimit(),
    verifierMs: ms(verifierSec, verifier.max_timeout_sec, config.verifier_timeout_multiplier),
  }

  // A cap holds also where the task names no limit of its own.
  function agentLimit(): { agentMs?: number } {
    const baseSec = agentSec ?? set(agent.max_timeout_sec)
    return baseSec === undefined ? {} : { agentMs: ms(baseSec, agent.max_timeout_sec, config.agent_timeout_multiplier) }
  }
}

/** 0 and absent are both "not set". */
export function set(value: number | undefined): number | undefined {
  return value === undefined || value === 0 ? undefined : value
}
