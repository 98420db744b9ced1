// What a task folder may ask for that no trial here does. It is refused before anything starts, with its reason: an agent that never got
// what its task promises would be scored for something else.
import { EvsysError } from '../../kernel/index.ts'
import type { LoadedTask, TaskPart } from '../task/index.ts'
import { trialError } from './trial-error.ts'

/** Agents that are not led by what a task tells them. */
const unled: readonly string[] = ['oracle', 'nop']

export function refuseUnsupported(task: LoadedTask, agent: string): void {
  const parts: readonly TaskPart[] = [task, ...task.steps]
  const services = new Set(parts.flatMap(servicesOf))
  if (services.size > 0) {
    throw trialError(
      'ServiceOperationsUnsupportedError',
      `the task collects from the services ${[...services].join(', ')}, and only the service "main" is reached`,
    )
  }
  if (unled.includes(agent)) return
  if (parts.some(({ trajectoryPath }) => trajectoryPath !== undefined)) {
    throw refused(
      `it comes with earlier turns (trajectory.json), and the agent "${agent}" cannot go on from them`,
      'take the file out to attempt it from the start; the agents oracle and nop do without it.',
    )
  }
  const { skills_dir } = task.config.environment
  if (skills_dir !== undefined) {
    throw refused(
      `it brings skills (skills_dir: ${skills_dir}), and the agent "${agent}" is given none`,
      'take skills_dir out of task.toml, and say in the instruction where they lie.',
    )
  }
}

/** What the agent is not given, without being refused for it. */
export function unofferedWarnings(task: LoadedTask, agent: string): string[] {
  const names = task.config.environment.mcp_servers.map(({ name }) => name)
  if (names.length === 0 || unled.includes(agent)) return []
  return [
    `MCP servers of the task are not offered to the agent by themselves (mcp_servers of its params): ${names.join(', ')}`,
  ]
}

function servicesOf({ artifacts, verification }: TaskPart): string[] {
  const named = [...artifacts.map(({ service }) => service), ...verification.collect.map(({ service }) => service)]
  return named.flatMap((service) => (service === undefined || service === 'main' ? [] : [service]))
}

function refused(what: string, fix: string): EvsysError {
  return new EvsysError('ENVIRONMENT_REFUSED', `the task cannot be attempted here: ${what}`, { fix })
}
