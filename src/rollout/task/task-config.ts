// What a task.toml says, schema 1.0 to 1.4, with its defaults. Keys that are not known are left alone, known ones are checked.
// Deprecated spellings are turned into today's by `readTaskConfig`; this file knows only today's.
import * as z from 'zod'
import { EvsysError } from '../../kernel/index.ts'
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

type NetworkFields = { network_mode?: string | undefined; allowed_hosts?: readonly string[] | undefined }

function checkHosts(value: NetworkFields, context: z.RefinementCtx): void {
  if (value.allowed_hosts === undefined || value.network_mode === 'allowlist') return
  // An empty list beside another mode says nothing; beside no mode it is a forgotten mode.
  if (value.allowed_hosts.length === 0 && value.network_mode !== undefined) return
  const message = 'hosts are allowed one by one only where network_mode is "allowlist"'
  context.addIssue({ code: 'custom', path: ['allowed_hosts'], message })
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

const McpServer = z
  .looseObject({
    name: z.string().min(1),
    transport: z.enum(['sse', 'streamable-http', 'stdio']).default('sse'),
    url: z.string().min(1).optional(),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).default([]),
  })
  .superRefine((server, context) => {
    const missing = server.transport === 'stdio' ? 'command' : 'url'
    if (server[missing] !== undefined) return
    const message = `is missing: a server with transport "${server.transport}" needs it`
    context.addIssue({ code: 'custom', path: [missing], message })
  })

/** A file or folder of the environment that is kept after the agent's phase. */
export const Artifact = z
  .looseObject({
    source: z.string().min(1),
    destination: z.string().min(1).optional(),
    exclude: z.array(z.string()).default([]),
    service: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/)
      .optional(),
  })
  .superRefine((artifact, context) => {
    const fault = artifactFault(artifact)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [fault.key], message: fault.message })
  })
export type Artifact = z.output<typeof Artifact>

/** `[agent]`. An absent `timeout_sec` is no limit. */
const AgentConfig = z
  .looseObject({ timeout_sec: seconds.optional(), user: account.optional(), ...networkFields })
  .superRefine(checkHosts)
export type AgentConfig = z.output<typeof AgentConfig>

/** `[environment]`. An absent resource is the provider's choice. */
const EnvironmentConfig = z
  .looseObject({
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
    workdir: z
      .string()
      .regex(/^(?:\/|[A-Za-z]:[\\/])/, 'must be an absolute path inside the environment')
      .optional(),
    skills_dir: z.string().optional(),
    healthcheck: Healthcheck.optional(),
    mcp_servers: z.array(McpServer).default([]),
  })
  .superRefine(checkHosts)
export type EnvironmentConfig = z.output<typeof EnvironmentConfig>

/** A command whose output is collected before a separate verifier starts. */
const CollectHook = z.looseObject({
  command: z.string().min(1),
  service: z.string().min(1).default('main'),
  timeout_sec: seconds.default(60),
  user: account.optional(),
})

/** `[verifier]` as it is written; what is absent is the task's, or a default. */
const VerifierConfig = z
  .looseObject({
    timeout_sec: seconds.optional(),
    env: EnvTable.default({}),
    user: account.optional(),
    ...networkFields,
    environment_mode: z.enum(['shared', 'separate']).optional(),
    environment: EnvironmentConfig.optional(),
    collect: z.array(CollectHook).default([]),
  })
  .superRefine((verifier, context) => {
    checkHosts(verifier, context)
    if (verifier.environment_mode !== 'shared' || verifier.environment === undefined) return
    const message = 'a shared verifier runs in the environment of the agent: it has none of its own'
    context.addIssue({ code: 'custom', path: ['environment'], message })
  })
export type VerifierConfig = z.output<typeof VerifierConfig>

const stepName = z
  .string()
  .regex(/^(?!\.{1,2}$)[^/\\\0]+$/, 'a step is named after its folder: no slash, not "." or ".."')

const StepConfig = z.looseObject({
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
  steps: z
    .array(StepConfig)
    .default([])
    .superRefine((steps, context) => {
      for (const [index, { name }] of steps.entries()) {
        if (steps.findIndex((each) => each.name === name) === index) continue
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `two steps are called "${name}"` })
      }
    }),
})
export type TaskConfig = z.output<typeof TaskConfig>

// Rules for the paths of artifacts: where one may come from, and where it lands below the folder of artifacts.

/** Name of the list of what was collected; no artifact may take it. */
export const manifestName = 'manifest.json'

type Paths = { source: string; destination?: string | undefined; service?: string | undefined }

/** What is wrong with the paths of an artifact; undefined: nothing. */
function artifactFault({
  source,
  destination,
  service,
}: Paths): { key: 'source' | 'destination'; message: string } | undefined {
  const refuse = (key: 'source' | 'destination', message: string) => ({ key, message })
  if (hasParent(source)) return refuse('source', `must not contain "..", got ${JSON.stringify(source)}`)
  if (source.includes('\0')) return refuse('source', 'must not contain a NUL')
  if (service !== undefined && service !== 'main' && !isAbsolute(source)) {
    return refuse('source', `must be absolute in the service "${service}", got ${JSON.stringify(source)}`)
  }
  if (destination === undefined) return undefined
  const shown = JSON.stringify(destination)
  if (/[\\\0]/.test(destination)) return refuse('destination', `must use forward slashes alone, got ${shown}`)
  if (isAbsolute(destination))
    return refuse('destination', `must be relative to the artifacts of the trial, got ${shown}`)
  if (hasParent(destination)) return refuse('destination', `must not contain "..", got ${shown}`)
  const parts = partsOf(destination)
  if (parts.length === 0) return refuse('destination', `must name a file or folder, got ${shown}`)
  if (parts.join('/') === manifestName)
    return refuse('destination', `"${manifestName}" is the list of what was collected`)
  return undefined
}

/** Where an artifact lands below the folder of artifacts: `/app/x` at `app/x`, unless it says otherwise. */
export function artifactPlace({ source, destination }: Paths): string {
  return partsOf(destination ?? source)
    .filter((part) => part !== '..')
    .join('/')
}

/** Whether one place is the other, or lies in it: then only the first of the two is collected. */
export function placesOverlap(a: string, b: string): boolean {
  return a === b || a === '' || b === '' || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

function hasParent(path: string): boolean {
  return path.split(/[/\\]/).includes('..')
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[/\\]/.test(path)
}

// Variables whose whole value is a template, `${VAR}` or `${VAR:-default}`, take it from the host. Anything else is literal.
export type HostEnv = Readonly<Record<string, string | undefined>>

const template = /^\$\{([^}:]+)(?::-([\s\S]*))?\}$/

/** The variables of `table` with templates resolved; a variable that the host lacks and that has no default is an error. */
export function resolveEnvTable(table: Readonly<Record<string, string>>, hostEnv: HostEnv): Record<string, string> {
  const missing = missingVariables(table, hostEnv)
  const [first] = missing
  if (first !== undefined) {
    const names = missing.map(({ variable }) => variable).join(', ')
    throw new EvsysError('SECRET_MISSING', `the task needs ${names} of this machine's environment, for ${first.key}`, {
      fix: `set ${first.variable}, or give it a default: \${${first.variable}:-value}.`,
    })
  }
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, resolved(value, hostEnv) ?? value]))
}

/** Variables of the host that templates of `table` need and that are not there. */
function missingVariables(
  table: Readonly<Record<string, string>>,
  hostEnv: HostEnv,
): { key: string; variable: string }[] {
  return Object.entries(table).flatMap(([key, value]) => {
    const variable = template.exec(value)?.[1]
    return variable !== undefined && resolved(value, hostEnv) === undefined ? [{ key, variable }] : []
  })
}

function resolved(value: string, hostEnv: HostEnv): string | undefined {
  const match = template.exec(value)
  if (match === null) return value
  const [, variable = '', fallback] = match
  return (Object.hasOwn(hostEnv, variable) ? hostEnv[variable] : undefined) ?? fallback
}
