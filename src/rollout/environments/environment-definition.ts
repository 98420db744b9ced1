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
  type TaskPart,
} from '../task/index.ts'

/** An environment to be opened. */
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
    readonly user?: string | number
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
  const parts: (TaskPart & { name?: string })[] = task.steps.length === 0 ? [task] : [...task.steps]
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
      const agent = phase(`${prefix}agent`, part.agentNetwork, part.agent.user)
      if (part.verification.mode === 'separate') return [agent]
      return [agent, phase(`${prefix}verifier`, part.verification.network, part.verification.user)]
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
    phases: [phase('verifier', network, user)],
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

function phase(name: string, network: NetworkPolicy, user: string | number | undefined) {
  return { name, network, ...(user === undefined ? {} : { user }) }
}
