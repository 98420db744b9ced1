// What trials of task folders are made of here: an agent of the registry over a policy, and the environment that a task needs.
import type { OpenInferenceClient, PluginSpec, RolloutError, Sampling, Turn } from '../../contracts/index.ts'
import { EvsysError, equipPlugin, keyedRandom, type PluginServices } from '../../kernel/index.ts'
import {
  chooseEnvironment,
  machineMeans,
  type RunTrialAgent,
  runAgent,
  type TrialParts,
  trialError,
} from '../../rollout/index.ts'

export interface FolderAgent {
  readonly spec: PluginSpec
  /** Absent: the agent asks no model. */
  readonly policy?: OpenInferenceClient
  readonly sampling: Sampling
  readonly maxTurns?: number
  /** Number of this attempt at its task: draws of another attempt are others. */
  readonly sample: number
  readonly seed: number
}

/** Runs an agent of the registry in a trial. */
export function folderAgent(agent: FolderAgent, services: Omit<PluginServices, 'signal'>): RunTrialAgent {
  const { spec, policy = noPolicy, sampling, maxTurns, sample, seed } = agent
  return async ({ task, folder, environment, logsDir, onTurn }, signal) => {
    const path = [task.task_id, folder.step ?? '', sample]
    const outcome = await runAgent({
      agent: spec,
      services: { ...services, random: (...rest) => keyedRandom(seed, 'rollout', ...path, ...rest) },
      ...{ task, folder, environment, logsDir, sampling, signal, policy: told(policy, onTurn) },
      ...(maxTurns === undefined ? {} : { maxTurns }),
    })
    const { turns, usage, output, truncated, error } = outcome
    return {
      ...{ turns, usage },
      ...(output === undefined ? {} : { output }),
      ...(truncated === undefined ? {} : { truncated }),
      ...(error === undefined ? {} : { error: outcome.ended === 'timeout' ? late(error) : error }),
    }
  }
}

// A limit of the agent's own is the end of its time as any other.
function late({ message }: RolloutError): EvsysError {
  return trialError('AgentTimeoutError', message)
}

const noPolicy: OpenInferenceClient = {
  async generate() {
    throw new EvsysError('CLI_USAGE', 'the agent asks a model, and none was named', { fix: 'add --model NAME.' })
  },
}

function told(policy: OpenInferenceClient, onTurn: (turn: Turn) => void): OpenInferenceClient {
  return {
    ...policy,
    async generate(request, signal) {
      const { text, toolCalls, stopReason, tokens, ...given } = await policy.generate(request, signal)
      onTurn({
        ...{ messages: [...request.messages], text, stopReason },
        ...(toolCalls === undefined ? {} : { toolCalls }),
        ...(tokens === undefined ? {} : { tokens }),
      })
      return {
        ...given,
        text,
        stopReason,
        ...(toolCalls === undefined ? {} : { toolCalls }),
        ...(tokens === undefined ? {} : { tokens }),
      }
    },
  }
}

/** Opens environments of a kind; `auto` takes the sandbox of this machine, and docker for what needs an image. */
export function folderEnvironment(
  choice: PluginSpec,
  services: Omit<PluginServices, 'signal'>,
): TrialParts['openEnvironment'] {
  return async (place, signal) => {
    const spec =
      choice.kind === 'auto'
        ? {
            ...choice,
            kind: (await chooseEnvironment(place.folder, machineMeans(signal), process.env)).kind,
          }
        : choice
    const { plugin, context } = equipPlugin('environment', spec, { ...services, signal })
    return plugin.open({ ...context, ...place })
  }
}
