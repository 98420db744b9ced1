// What the runs of an experiment need beyond their folder and their trainer, by what it declares: the plugins that it names say whether they
// call services or open sandboxes. What is not declared is not there.
import type { Plan, PluginCard, PluginSpec } from '../../contracts/index.ts'

export interface RunNeeds {
  /** Why they need the network; empty: they have none. */
  readonly network: readonly string[]
  /** Why they open sandboxes themselves, which a sandbox cannot hold. */
  readonly sandbox: readonly string[]
}

type Declared = Pick<PluginCard, 'type' | 'kind' | 'needs'>

/** `callbacks`: of every run. */
export function runNeeds(
  { experiment, runs }: Plan,
  { cards, callbacks }: { readonly cards: readonly Declared[]; readonly callbacks: readonly PluginSpec[] },
): RunNeeds {
  const configs = runs.map(({ config }) => config)
  const texts = new Set([...configs, callbacks, experiment.log_store].flatMap(textsIn))
  const network = new Set<string>()
  const sandbox = new Set<string>()
  for (const { type, kind, needs } of cards) {
    if (!texts.has(kind)) continue
    if (needs.network === true || (type === 'inference_client' && services.has(kind))) network.add(`${type} ${kind}`)
    const isServed = type === 'verifier' && kind === 'code' // the controller opens its sandboxes
    if (!isServed && (needs.sandbox === true || needs.container === true)) sandbox.add(`${type} ${kind}`)
  }
  for (const text of texts) {
    if (/^https?:\/\//.test(text)) network.add(text)
    if (servedModel.test(text)) network.add(`model ${text}`)
  }
  for (const { agent, environment, data, mix = [] } of configs) {
    if (environment !== undefined) sandbox.add(`environment ${environment.kind}`)
    if (agent !== undefined && inEnvironments.has(agent.kind)) sandbox.add(`agent ${agent.kind}`)
    for (const { source_kind: kind } of [data, ...mix]) if (kind === 'harbor') sandbox.add('tasks in folders')
  }
  return { network: [...network], sandbox: [...sandbox] }
}

const services = new Set(['openai', 'openai_compatible', 'gemini', 'anthropic', 'tinker'])

/** What plugins that come with evsys declare, as far as it must be known before they are loaded. Where this errs, a worker is started anew. */
export const expectedCards: readonly Declared[] = [...services].map((kind) => ({
  type: 'inference_client',
  kind,
  needs: { network: true },
}))

const servedModel = /^(?:claude|gpt|gemini|o[134])-/
/** Agents that act in an environment. */
const inEnvironments = new Set(['cli', 'terminal', 'shell_loop', 'oracle'])

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
