// What a task.toml says, schema 1.0 to 1.4, with its defaults. Keys that are not known are left alone, known ones are checked.
// Deprecated spellings are turned into today's by `readTaskConfig`; this file knows only today's.
import * as z from 'zod'
import { AllowedHost } from './network-policy.ts'

const seconds = z.number().positive()
const count = z.int().min(0)
const account = z.union([z.string().min(1), z.int().min(0)])

/** Variables for a command: a value is text, or a template `${VAR}` or `${VAR:-default}` of the host's. */
export const EnvTable = z.record(z.string().regex(/^[^=\0]+$/), z.string().regex(/^[^\0]*$/))

/** What a phase may reach; absent: what the environment may. */
const networkFields = {
  network_mode: z.enum(['public', 'no-network', 'allowlist']).optional(),
  allowed_hosts: z.array(AllowedHost).optional(),
}

/** Polls that say when an environment is ready. */
export const Healthcheck = z.looseObject({
  command: z.string().min(1),
  interval_sec: seconds.default(5),
  timeout_sec: seconds.default(30),
  start_period_sec: z.number().min(0).default(0),
  start_interval_sec: seconds.default(5),
  retries: z.int().min(1).default(3),
})
export type Healthcheck = z.output<typeof Healthcheck>

/** A server of tools that the agent is told of. */
export const McpServer = z.looseObject({
  name: z.string().min(1),
  transport: z.enum(['sse', 'streamable-http', 'stdio']).default('sse'),
  url: z.string().min(1).optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
})
export type McpServer = z.output<typeof McpServer>

/** A file or folder of the environment that is kept after the agent's phase. */
export const Artifact = z.looseObject({
  source: z.string().min(1),
  destination: z.string().min(1).optional(),
  exclude: z.array(z.string()).default([]),
  service: z.string().min(1).optional(),
})
export type Artifact = z.output<typeof Artifact>

/** `[agent]`. An absent `timeout_sec` is no limit. */
export const AgentConfig = z.looseObject({
  timeout_sec: seconds.optional(),
  user: account.optional(),
  ...networkFields,
})
export type AgentConfig = z.output<typeof AgentConfig>

/** `[environment]`. An absent resource is the provider's choice. */
export const EnvironmentConfig = z.looseObject({
  build_timeout_sec: seconds.default(600),
  docker_image: z.string().min(1).optional(),
  os: z.enum(['linux', 'windows']).default('linux'),
  cpus: z.int().min(1).optional(),
  memory_mb: z.int().min(1).optional(),
  storage_mb: z.int().min(1).optional(),
  gpus: count.optional(),
  gpu_types: z.array(z.string()).optional(),
  tpu: z.looseObject({ type: z.string(), topology: z.string() }).optional(),
  network_mode: z.enum(['public', 'no-network', 'allowlist']).default('public'),
  allowed_hosts: z.array(AllowedHost).optional(),
  env: EnvTable.default({}),
  workdir: z.string().startsWith('/').optional(),
  skills_dir: z.string().optional(),
  healthcheck: Healthcheck.optional(),
  mcp_servers: z.array(McpServer).default([]),
})
export type EnvironmentConfig = z.output<typeof EnvironmentConfig>

/** A command whose output is collected before a separate verifier starts. */
export const CollectHook = z.looseObject({
  command: z.string().min(1),
  service: z.string().min(1).default('main'),
  timeout_sec: seconds.default(60),
  user: account.optional(),
})
export type CollectHook = z.output<typeof CollectHook>

/** `[verifier]` as it is written; what is absent is the task's, or a default. */
export const VerifierConfig = z.looseObject({
  timeout_sec: seconds.optional(),
  env: EnvTable.default({}),
  user: account.optional(),
  ...networkFields,
  environment_mode: z.enum(['shared', 'separate']).optional(),
  environment: EnvironmentConfig.optional(),
  collect: z.array(CollectHook).default([]),
})
export type VerifierConfig = z.output<typeof VerifierConfig>

const stepName = z
  .string()
  .regex(/^(?!\.{1,2}$)[^/\\\0]+$/, 'a step is named after its folder: no slash, not "." or ".."')

/** One of `[[steps]]`. */
export const StepConfig = z.looseObject({
  name: stepName,
  agent: AgentConfig.prefault({}),
  verifier: VerifierConfig.prefault({}),
  min_reward: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
  healthcheck: Healthcheck.optional(),
  artifacts: z.array(Artifact).default([]),
})
export type StepConfig = z.output<typeof StepConfig>

const taskName = z
  .string()
  .regex(
    /^(?!.*\.\.)(?!\.)[A-Za-z0-9._-]+\/(?!\.)[A-Za-z0-9._-]+$/,
    'a task is named `org/name`: letters, digits, ".", "_" and "-", no leading "." and no ".."',
  )

/** A whole task.toml. */
export const TaskConfig = z.looseObject({
  schema_version: z.string().default('1.4'),
  source: z.string().optional(),
  multi_step_reward_strategy: z.enum(['mean', 'final']).default('mean'),
  artifacts: z.array(Artifact).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
  task: z
    .looseObject({
      name: taskName,
      version: z.string().min(1).optional(),
      description: z.string().default(''),
      authors: z.array(z.looseObject({ name: z.string(), email: z.string().optional() })).default([]),
      keywords: z.array(z.string()).default([]),
    })
    .optional(),
  agent: AgentConfig.prefault({}),
  verifier: VerifierConfig.prefault({}),
  environment: EnvironmentConfig.prefault({}),
  solution: z.looseObject({ env: EnvTable.default({}) }).prefault({}),
  steps: z.array(StepConfig).default([]),
})
export type TaskConfig = z.output<typeof TaskConfig>
