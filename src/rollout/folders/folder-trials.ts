// What trials of task folders are made of here: an agent of the registry over a policy, and the environment that a task needs.
import type { OpenInferenceClient, PluginSpec, Random, Sampling, SeedPath, Turn } from '../../contracts/index.ts'
import { EvsysError, equipPlugin, type PluginServices } from '../../kernel/index.ts'
import { runAgent } from '../agents/run-agent.ts'
import { chooseEnvironment, machineCapabilities } from '../environments/choose-environment.ts'
import type { TrialParts } from '../job/run-job.ts'
import type { RunTrialAgent } from '../trial/run-agent-phase.ts'
import { trialError } from '../trial/trial-error.ts'

interface FolderAgent {
  readonly spec: PluginSpec
  /** Who answers in one part of the attempt: the task, or one of its steps. Absent: the agent asks no model. */
  policy?: ((part: TaskPart) => OpenInferenceClient) | undefined
  readonly sampling: Sampling
  readonly maxTurns?: number | undefined
  /** Longest that the agent may take in each part; absent: what the task says. */
  readonly timeoutMs?: number | undefined
  /** Draws of this attempt, by part. */
  random(part: TaskPart, ...path: SeedPath): Random
  /** Absent: the agent may look into the folder, tests and solution included, as `oracle` does. */
  readonly hidesFolder?: true | undefined
}

/** What an agent is run for. `step` is empty in a task of one. */
export interface TaskPart {
  readonly taskId: string
  readonly step: string
}

/** Runs an agent of the registry in a trial. */
export function folderAgent(agent: FolderAgent, services: Omit<PluginServices, 'signal'>): RunTrialAgent {
  const { spec, sampling, maxTurns, timeoutMs } = agent
  return async ({ task, folder, environment, logsDir, onTurn }, signal) => {
    const part = { taskId: task.task_id, step: folder.step ?? '' }
    const policy = agent.policy?.(part) ?? noPolicy
    const outcome = await runAgent({
      agent: spec,
      services: { ...services, random: (...path) => agent.random(part, ...path) },
      task,
      environment,
      logsDir,
      sampling,
      signal,
      policy: watched(policy, onTurn),
      folder: agent.hidesFolder === true ? undefined : folder,
      maxTurns,
      timeoutMs,
    })
    const { turns, usage, output, truncated, error } = outcome
    // A limit of the agent is the end of its time as any other.
    const isLate = error !== undefined && outcome.ended === 'timeout'
    return { turns, usage, output, truncated, error: isLate ? trialError('AgentTimeoutError', error.message) : error }
  }
}

const noPolicy: OpenInferenceClient = {
  async generate() {
    throw new EvsysError('CLI_USAGE', 'the agent asks a model, and none was named', { fix: 'add --model NAME.' })
  },
}

function watched(policy: OpenInferenceClient, onTurn: (turn: Turn) => void): OpenInferenceClient {
  return {
    ...policy,
    async generate(request, signal) {
      const given = await policy.generate(request, signal)
      const { text, toolCalls, stopReason, tokens } = given
      onTurn({ messages: [...request.messages], text, stopReason, toolCalls, tokens })
      return given
    },
  }
}

/** Opens environments of a kind; `auto` takes the sandbox of this machine, and docker for what needs an image. */
export function folderEnvironment(
  choice: PluginSpec,
  services: Omit<PluginServices, 'signal'>,
): TrialParts['openEnvironment'] {
  return async (place, signal) => {
    const choose = async () => chooseEnvironment(place.folder, machineCapabilities(signal), process.env)
    const spec = choice.kind === 'auto' ? { ...choice, kind: (await choose()).kind } : choice
    const { plugin, context } = equipPlugin('environment', spec, { ...services, signal })
    return plugin.open({ ...context, ...place })
  }
}
