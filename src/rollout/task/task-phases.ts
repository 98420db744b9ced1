// What holds in a phase: a step's own fields win over the task's, then come the defaults.
import type { Verification } from './loaded-task.ts'
import { networkPolicy } from './network-policy.ts'
import type { AgentConfig, EnvironmentConfig, StepConfig, TaskConfig, VerifierConfig } from './task-config.ts'

const defaultVerifierSec = 600

/** What the agent's phase of the task, or of one of its steps, may take. */
export function effectiveAgent(config: TaskConfig, step?: StepConfig): AgentConfig {
  if (step === undefined) return config.agent
  const { allowed_hosts: hosts, ...task } = config.agent
  // Hosts belong to the mode beside them.
  const inherits = hosts !== undefined && step.agent.network_mode === undefined
  return { ...task, ...(inherits ? { allowed_hosts: hosts } : {}), ...step.agent }
}

/** How the task, or one of its steps, is verified. */
export function effectiveVerification(config: TaskConfig, step?: StepConfig): Verification {
  const own = step?.verifier
  const environment = separateEnvironment(config, own)
  const user = own?.user ?? config.verifier.user
  const baseline = networkPolicy(environment ?? config.environment)
  const phase = own?.network_mode === undefined ? config.verifier : own
  return {
    mode: environment === undefined ? 'shared' : 'separate',
    ...(environment === undefined ? {} : { environment }),
    timeoutSec: own?.timeout_sec ?? config.verifier.timeout_sec ?? defaultVerifierSec,
    env: { ...config.verifier.env, ...own?.env },
    ...(user === undefined ? {} : { user }),
    network: networkPolicy(phase, baseline),
    collect: own !== undefined && own.collect.length > 0 ? own.collect : config.verifier.collect,
  }
}

// Shared: undefined. Separate: its own definition, else that of the agent's environment.
function separateEnvironment(config: TaskConfig, own: VerifierConfig | undefined): EnvironmentConfig | undefined {
  for (const level of [own, config.verifier]) {
    if (level?.environment !== undefined) return level.environment
    if (level?.environment_mode === 'shared') return undefined
    if (level?.environment_mode === 'separate') return config.verifier.environment ?? config.environment
  }
  return undefined
}
