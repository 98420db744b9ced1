// Who may attempt a benchmark of task folders, and where it runs. Agents that are all ours run beside the environment, in the controller;
// those that bring code, programs or servers run where the code of the project does, which sees neither tests nor solutions.
import type { PluginSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

type AgentPlace = 'controller' | 'worker'

/** Agents of which no part is the project's, whatever their params say. */
const ours: readonly string[] = ['shell_loop', 'terminal', 'nop']

/** Where an agent of a benchmark of task folders runs. `isProjects`: the project has a plugin of this kind. */
export function placeOfAgent(
  { kind, params }: PluginSpec,
  isProjects: (kind: string) => boolean = () => false,
): AgentPlace {
  if (isProjects(kind)) return 'worker'
  if (ours.includes(kind)) return 'controller'
  if (kind === 'chat') return params.user === undefined ? 'controller' : 'worker'
  // A program in the environment can do there what a command of a model can.
  if (kind === 'cli') return params.run_on === 'host' ? 'worker' : 'controller'
  if (kind === 'tool_loop') return listOf(params.tools).length + programs(params).length === 0 ? 'controller' : 'worker'
  return 'worker'
}

/** Checks that an agent may attempt a benchmark of task folders at all. */
export function requireTrialAgent(agent: PluginSpec | undefined, benchmark: string): PluginSpec {
  if (agent === undefined) {
    throw refused(
      benchmark,
      'no agent is named',
      'name one that acts: agent: shell_loop, in the benchmark or in the run.',
    )
  }
  if (agent.kind !== 'oracle') return agent
  throw refused(
    benchmark,
    'the agent "oracle" runs their solutions',
    'name an agent that calls a model; `evsys benchmark run --agent oracle` tries the solutions.',
  )
}

/** Checks that an agent may lead a model behind an API: no code of the project runs where that is asked. */
export function requireOwnAgent(agent: PluginSpec | undefined, benchmark: string): PluginSpec {
  const named = requireTrialAgent(agent, benchmark)
  if (placeOfAgent(named) === 'controller') return named
  throw refused(
    benchmark,
    `the agent "${named.kind}" brings code, programs or servers of the project, and a model behind an API is asked where none of them runs`,
    'name chat, shell_loop, terminal, nop, a cli in the environment, or a tool_loop whose tools are at URLs; or compare arms of an experiment.',
  )
}

function programs(params: PluginSpec['params']): unknown[] {
  return listOf(params.mcp_servers).filter((each) => typeof Reflect.get(Object(each), 'url') !== 'string')
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function refused(benchmark: string, what: string, fix: string): EvsysError {
  return new EvsysError('CONFIG_INVALID', `benchmark "${benchmark}" is made of task folders, and ${what}`, { fix })
}

// Where a benchmark of task folders may be attempted: in environments that are all ours, since they hold the tests.
const ourEnvironments: readonly string[] = ['local', 'docker']

/** Checks that an environment may hold a benchmark. Absent: the least that holds each task. */
export function requireTrialEnvironment(
  environment: PluginSpec | undefined,
  benchmark: string,
): PluginSpec | undefined {
  if (environment === undefined || ourEnvironments.includes(environment.kind)) return environment
  throw new EvsysError(
    'CONFIG_INVALID',
    `benchmark "${benchmark}" is made of task folders, and the environment "${environment.kind}" cannot hold it: it has no files, or is code of the project, which must not see the tests`,
    { fix: `name one of ${ourEnvironments.join(', ')}, or none.` },
  )
}
