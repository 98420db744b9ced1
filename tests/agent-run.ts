// An attempt of an agent, for tests: built-in agents and those of the test, keyed randomness, a task in words.
import type { AnyPlugin, HarborTask } from '../src/contracts/index.ts'
import { createRegistry, keyedRandom } from '../src/kernel/index.ts'
import { type AgentOutcome, type AgentRun, rolloutPlugins, runAgent } from '../src/rollout/index.ts'

export const inlineTask: HarborTask = {
  task_id: 't1',
  instruction: 'say it',
  verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'it', params: {} },
  metadata: {},
}

type Options = Partial<Omit<AgentRun, 'agent' | 'policy' | 'services'>> &
  Pick<AgentRun, 'policy'> & {
    readonly plugins?: readonly AnyPlugin[] | undefined
    readonly secrets?: Readonly<Record<string, string>> | undefined
  }

/** Runs `kind` with `params`. */
export function attempt(
  kind: string,
  params: Record<string, unknown>,
  { plugins = [], secrets = {}, ...options }: Options,
): Promise<AgentOutcome> {
  const registry = createRegistry()
  for (const plugin of rolloutPlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  for (const plugin of plugins) registry.add(plugin, { rank: 'project', label: 'test' })
  return runAgent({
    agent: { kind, params },
    services: {
      registry,
      random: (...path) => keyedRandom(1, ...path),
      log: () => {},
      secret: (name) => {
        const value = secrets[name]
        if (value !== undefined) return value
        throw new Error(`no secret ${name}`)
      },
    },
    task: inlineTask,
    sampling: { maxTokens: 16, temperature: 0 },
    signal: new AbortController().signal,
    ...options,
  })
}
