// Which environment is asked for: that of the agent, or that of a separate verifier, with everything its phases want of it.
import type { TaskFolder } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import {
  type EnvironmentConfig,
  type HostEnv,
  type LoadedTask,
  loadTaskFolder,
  type NetworkPolicy,
  networkPolicy,
  resolveEnvTable,
  samePolicy,
  type TaskPart,
} from '../task/index.ts'

export interface EnvironmentDefinition {
  readonly task: LoadedTask
  readonly role: 'agent' | 'verifier'
  readonly config: EnvironmentConfig
  /** Folder with the Dockerfile and the files that it copies. */
  readonly contextDir: string
  /** Variables of every command, templates resolved. */
  readonly env: Readonly<Record<string, string>>
  /** What it may reach while nothing else is said. */
  readonly network: NetworkPolicy
  /** What its phases want instead. */
  readonly phases: readonly {
    readonly name: string
    readonly network: NetworkPolicy
    readonly user?: string | number | undefined
  }[]
}

/** Reads the definition of the environment of `folder`. */
export async function environmentDefinition(folder: TaskFolder, hostEnv: HostEnv): Promise<EnvironmentDefinition> {
  return defineFor(await loadTaskFolder(folder.path, { withoutVerification: true }), folder, hostEnv)
}

/** The same of a task that is loaded. */
export function defineFor(
  task: LoadedTask,
  { step, role }: Omit<TaskFolder, 'path'>,
  hostEnv: HostEnv,
): EnvironmentDefinition {
  if (role === 'verifier') return separateVerifier(task, partOf(task, step), hostEnv)
  const parts: (TaskPart & { name?: string | undefined })[] = task.steps.length === 0 ? [task] : [...task.steps]
  const { environment: config } = task.config
  return {
    task,
    role: 'agent',
    config,
    contextDir: task.environmentDir,
    env: resolveEnvTable(config.env, hostEnv),
    network: task.network,
    phases: parts.flatMap((part) => {
      const prefix = task.steps.length === 0 ? '' : `step ${part.name}, `
      const { mode, network, user } = part.verification
      const agent = { name: `${prefix}agent`, network: part.agentNetwork, user: part.agent.user }
      return mode === 'separate' ? [agent] : [agent, { name: `${prefix}verifier`, network, user }]
    }),
  }
}

function separateVerifier(task: LoadedTask, part: TaskPart, hostEnv: HostEnv): EnvironmentDefinition {
  const { environment: config, network, user } = part.verification
  const contextDir = part.testsDir ?? task.testsDir
  if (config === undefined || contextDir === undefined) {
    throw new EvsysError('CONFIG_INVALID', `the task ${task.name} has no separate verifier with a folder tests/`, {
      fix: 'write [verifier.environment] into its task.toml, and its Dockerfile into tests/.',
    })
  }
  return {
    task,
    role: 'verifier',
    config,
    contextDir,
    env: resolveEnvTable(config.env, hostEnv),
    network: networkPolicy(config),
    phases: [{ name: 'verifier', network, user }],
  }
}

function partOf(task: LoadedTask, step: string | undefined): TaskPart {
  if (step === undefined) return task
  const found = task.steps.find(({ name }) => name === step)
  if (found !== undefined) return found
  throw new EvsysError('CONFIG_INVALID', `the task ${task.name} has no step "${step}"`, {
    fix: `its steps are ${task.steps.map(({ name }) => name).join(', ')}.`,
  })
}

// Whether an environment can keep the network policies of a task. One that cannot refuses before it starts: a task never runs with
// another network than it asks for.

/** Why the policies of a definition cannot be enforced; empty: they can. `perPhase`: the network can change from phase to phase. */
export function networkFaults({ network, phases }: EnvironmentDefinition, means: { perPhase: boolean }): string[] {
  const faults = new Set<string>()
  for (const { name, network: policy } of [{ name: 'environment', network }, ...phases]) {
    if (policy.mode === 'allowlist' && policy.hosts.length > 0) {
      faults.add(`it cannot hold the network to an allowlist (${name}: ${policy.hosts.join(', ')})`)
    } else if (!means.perPhase && !samePolicy(policy, network) && hasNetwork(policy) !== hasNetwork(network)) {
      faults.add(`it cannot change the network between phases (${name}: ${policy.mode}, environment: ${network.mode})`)
    }
  }
  return [...faults]
}

/** Whether commands under a policy have a network. An empty allowlist denies everything. */
export function hasNetwork(policy: NetworkPolicy): boolean {
  return policy.mode === 'public'
}

// Failures of environments under the names that Harbor gives them: retry filters and statistics go by these names.

/** An environment that was never ready, or could not be built. */
export function environmentError(
  name: 'HealthcheckError' | 'SandboxBuildFailedError',
  message: string,
  fix: string,
): EvsysError {
  const error = new EvsysError('ENVIRONMENT_FAILED', message, { fix })
  Object.defineProperty(error, 'name', { value: name })
  return error
}

/** A task that an environment cannot hold as the task asks: reported before anything starts. `kind` names the environment. */
export function refusal(kind: string, message: string, fix: string): EvsysError {
  return new EvsysError('ENVIRONMENT_REFUSED', `the environment "${kind}" cannot hold this task: ${message}`, { fix })
}
