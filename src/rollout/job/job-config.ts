// A job as a file: which agents attempt which tasks, how often, how many at a time. Harbor's names and defaults; the deprecated
// wrapper `orchestrator` is still in most files and holds.
import * as z from 'zod'
import { EvsysError, type Problem } from '../../kernel/index.ts'
import {
  AgentChoice,
  EnvironmentChoice,
  TaskChoice,
  TrialConfig,
  timeoutFields,
  VerifierChoice,
} from '../trial/trial-config.ts'

/** When a failed trial is attempted again. Names are those of `exception_type`; excluded wins over included. */
export const RetryConfig = z.looseObject({
  max_retries: z.int().min(0).default(0),
  include_exceptions: z.array(z.string()).nullish(),
  exclude_exceptions: z
    .array(z.string())
    .nullish()
    .default([
      'AgentTimeoutError',
      'VerifierTimeoutError',
      'RewardFileNotFoundError',
      'RewardFileEmptyError',
      'VerifierOutputParseError',
      'ApiUsageLimitError',
      'AgentSafetyRefusalError',
      'AgentAuthenticationError',
      'ModelNotFoundError',
    ]),
  min_wait_sec: z.number().min(0).default(1),
  wait_multiplier: z.number().positive().default(1),
  max_wait_sec: z.number().min(0).default(60),
})
export type RetryConfig = z.output<typeof RetryConfig>

const DatasetChoice = z.looseObject({
  path: z.string().min(1).optional(),
  name: z.string().min(1).optional(),
  task_names: z.array(z.string()).nullish(),
  exclude_task_names: z.array(z.string()).nullish(),
  n_tasks: z.int().min(1).nullish(),
})

const MetricChoice = z.looseObject({ type: z.enum(['mean', 'max', 'min', 'sum']) })

const JobFields = z.looseObject({
  job_name: z.string().min(1).optional(),
  jobs_dir: z.string().min(1).default('jobs'),
  n_attempts: z.int().min(1).default(1),
  n_concurrent_trials: z.int().min(1).default(4),
  retry: RetryConfig.prefault({}),
  ...timeoutFields,
  agents: z
    .array(AgentChoice)
    .min(1)
    .default([AgentChoice.parse({ name: 'oracle' })]),
  datasets: z.array(DatasetChoice).default([]),
  tasks: z.array(TaskChoice).default([]),
  environment: EnvironmentChoice.prefault({}),
  verifier: VerifierChoice.prefault({}),
  metrics: z.array(MetricChoice).default([]),
  artifacts: TrialConfig.shape.artifacts,
  quiet: z.boolean().default(false),
  debug: z.boolean().default(false),
  /** No further trial is started once this many have ended without a score by failures of infrastructure; absent: never. */
  abort_after_failures: z.int().min(1).optional(),
})

export const JobConfig = z
  .preprocess(withoutOrchestrator, JobFields)
  .superRefine(({ agents, n_concurrent_trials }, context) => {
    for (const [index, { n_concurrent }] of agents.entries()) {
      if (n_concurrent === undefined || n_concurrent <= n_concurrent_trials) continue
      context.addIssue({
        code: 'custom',
        path: ['agents', index, 'n_concurrent'],
        message: `it is more than n_concurrent_trials, which is ${n_concurrent_trials}`,
      })
    }
  })
export type JobConfig = z.output<typeof JobConfig>

// What the job itself says wins over the wrapper.
function withoutOrchestrator(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('orchestrator' in value)) return value
  const { orchestrator, ...job } = value
  if (typeof orchestrator !== 'object' || orchestrator === null) return job
  const taken = Object.fromEntries(
    ['n_concurrent_trials', 'quiet', 'retry'].flatMap((key) =>
      key in orchestrator ? [[key, Reflect.get(orchestrator, key)]] : [],
    ),
  )
  return { ...taken, ...job }
}

// Fields of a job file that Harbor knows and nothing here does. One that is set is refused by name, never left out in silence.
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
  resume_trajectory: 'every step begins a new conversation',
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
