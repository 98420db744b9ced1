// Proposers that others ask: those with a model. By kind, since a plugin reaches no registry.
import type { Brief, Context, PluginSpec, Proposal, Proposer } from '../../contracts/index.ts'
import { checkValue, EvsysError } from '../../kernel/index.ts'
import { cliAgent } from './cli/cli-agent.ts'
import { anthropic, openaiCompatible } from './llm/model-proposers.ts'
import { optimizer } from './optimizer/optimizer.ts'

const byKind: Readonly<Record<(typeof innerProposers)[number], Proposer>> = {
  anthropic: erased(anthropic),
  'openai-compatible': erased(openaiCompatible),
  'cli-agent': erased(cliAgent),
  optimizer: erased(optimizer),
}

export const innerProposers = ['anthropic', 'openai-compatible', 'cli-agent', 'optimizer'] as const

/** Asks a proposer with its params, in the context of the one that asks. */
export async function proposeWith(
  spec: PluginSpec,
  brief: Brief,
  context: Omit<Context<unknown>, 'params'>,
): Promise<Proposal> {
  const kind = innerProposers.find((each) => each === spec.kind)
  if (kind === undefined)
    throw new EvsysError('PLUGIN_UNKNOWN', `no proposer with a model is called "${spec.kind}"`, {
      fix: `known: ${innerProposers.join(', ')}.`,
    })
  const plugin = byKind[kind]
  const checked = checkValue(plugin.params, spec.params)
  if (!checked.ok) {
    const faults = checked.issues.map(({ path, message }) => [...path.map(String), message].join(': '))
    throw new EvsysError('PLUGIN_PARAMS', `proposer "${kind}": ${faults.join('; ')}`)
  }
  const { signal, random, log, secret } = context
  return plugin.propose(brief, { params: checked.value, signal, random, log, secret })
}

// A plugin takes the params that its own schema made: `proposeWith` checks them first.
function erased(plugin: unknown): Proposer {
  return plugin as Proposer
}
