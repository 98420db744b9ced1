// Fields of a job file that Harbor knows and nothing here does. One that is set is refused by name, never left out in silence.
import { EvsysError, type Problem } from '../../kernel/index.ts'

const ofJob: Readonly<Record<string, string>> = {
  user_agent:
    'a simulated user that talks to the agent is not played; write the turns down: user_turns of the agent chat',
  source_jobs: 'trials of other jobs are not graded again; run them again',
  install_only: 'agents are not installed',
  extra_instruction_paths: 'instructions are not added to; write them into the tasks',
  extra_instructions: 'instructions are not added to; write them into the tasks',
}
const ofAgent: Readonly<Record<string, string>> = {
  skills: 'skills are not given to agents; say in the instruction where they lie',
  mcp_servers: 'servers are params of the agent tool_loop: kwargs.mcp_servers',
  resume_trajectory: 'every step begins a conversation of its own',
  load_trajectory: 'agents begin without earlier turns',
  extra_allowed_hosts: 'no environment here holds the network to an allowlist',
}
const ofEnvironment: Readonly<Record<string, string>> = {
  import_path: 'environments of Harbor in Python are not run; name local or docker',
  mounts: 'nothing of this machine is mounted',
  extra_docker_compose: 'only the compose file of a task is used',
  extra_allowed_hosts: 'no environment here holds the network to an allowlist',
}
const ofVerifier: Readonly<Record<string, string>> = {
  import_path: 'verifiers of Harbor in Python are not run; the tests of a task score it',
}

/** Throws with every field at once. */
export function refuseJobFields(job: unknown): void {
  const agents: unknown = Reflect.get(Object(job), 'agents')
  const problems: Problem[] = [
    ...found(job, ofJob, ''),
    ...(Array.isArray(agents) ? agents : []).flatMap((agent: unknown, i) => found(agent, ofAgent, `agents.${i}.`)),
    ...found(Reflect.get(Object(job), 'environment'), ofEnvironment, 'environment.'),
    ...found(Reflect.get(Object(job), 'verifier'), ofVerifier, 'verifier.'),
  ]
  if (problems.length > 0) throw EvsysError.many(problems)
}

function found(table: unknown, fields: Readonly<Record<string, string>>, prefix: string): Problem[] {
  return Object.entries(fields).flatMap(([name, reason]) =>
    isSet(Reflect.get(Object(table), name))
      ? [{ code: 'CONFIG_INVALID' as const, message: `${prefix}${name}: ${reason}`, fix: `take ${prefix}${name} out.` }]
      : [],
  )
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  return !(Array.isArray(value) && value.length === 0)
}
