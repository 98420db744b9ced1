// The proxy's side of one run of an agent that is a program of its own: its address and key, and the end of an agent that goes on asking.
import type { OpenInferenceClient, Random, Sampling, SeedPath } from '../../contracts/index.ts'
import { limitOf } from '../agents/limit-reached.ts'
import type { ProxyServer, ServedTrial } from './serve-proxy.ts'

/** An agent that asks on after it was told this often that it may not is ended. */
const mostReminders = 3

export interface AgentTrial {
  readonly trial: ServedTrial
  /** Aborts when the agent has to be ended. */
  readonly ended: AbortSignal
}

export function openAgentTrial(
  server: Pick<ProxyServer, 'open'>,
  {
    policy,
    sampling,
    random,
    params,
  }: {
    readonly policy: OpenInferenceClient
    readonly sampling: Sampling
    random(...path: SeedPath): Random
    readonly params: { readonly model: string; readonly sampling: 'trial' | 'client' }
  },
): AgentTrial {
  const told = new AbortController()
  let reminders = 0
  const trial = server.open({
    policy,
    sampling,
    model: params.model,
    maxTurns: Number.POSITIVE_INFINITY, // the policy keeps the limit, so that the attempt is known to have reached it
    clientSampling: params.sampling === 'client',
    seed: (conversation, repeat) => random(conversation, repeat).int(2 ** 32),
    onFailure: (error) => {
      if (limitOf(error) !== undefined && ++reminders >= mostReminders) told.abort(error)
    },
  })
  return { trial, ended: told.signal }
}
