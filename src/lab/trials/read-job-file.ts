// A job file of Harbor, as far as its fields are ours: one agent on one task or dataset of this machine. What nothing here does is
// refused by name; what is not known is left alone, as in Harbor.
import { extname, resolve } from 'node:path'
import type { PluginSpec } from '../../contracts/index.ts'
import { EvsysError, placeOf, plainYaml, readBoundedText } from '../../kernel/index.ts'
import { JobConfig, refuseJobFields } from '../../rollout/index.ts'

/** What a job file asks for, in the words of `runTaskFolders`. */
export interface JobFile {
  readonly path: string
  readonly agent: PluginSpec
  /** As `--model` takes it. */
  readonly model?: string | undefined
  readonly environment: PluginSpec
  readonly numSamples: number
  readonly concurrent: number
  readonly limit?: number | undefined
  /** Folder of the job, where the file names it. */
  readonly output?: string | undefined
  /** Retries, factors on limits, verifier, artifacts: as a job has them. */
  readonly job: Readonly<Record<string, unknown>>
  /** Limits and variables of the agent. */
  readonly jobAgent: Readonly<Record<string, unknown>>
}

export function isJobFile(path: string): boolean {
  return ['.yaml', '.yml', '.json'].includes(extname(path).toLowerCase())
}

/** Paths in the file are relative to `cwd`, as Harbor has them. */
export async function readJobFile(file: string, cwd: string): Promise<JobFile> {
  const written = await parsed(file)
  refuseJobFields(written)
  const read = JobConfig.safeParse(written)
  if (!read.success) {
    throw EvsysError.many(
      read.error.issues.map(({ path, message }) => ({
        code: 'CONFIG_INVALID' as const,
        message: `${file}: ${path.join('.')}: ${message}`,
      })),
    )
  }
  const { agents, tasks, datasets, environment, job_name, jobs_dir } = read.data
  const { n_attempts, n_concurrent_trials, agents: _agents, ...job } = read.data
  const [agent, ...otherAgents] = agents
  const [place, ...otherPlaces] = [...tasks, ...datasets]
  if (agent === undefined || otherAgents.length > 0) throw single(file, 'agents', 'agent')
  if (place?.path === undefined || otherPlaces.length > 0)
    throw single(file, 'tasks and datasets', 'path of this machine')
  for (const field of ['task_names', 'exclude_task_names'] as const) {
    if (field in place && place[field] !== undefined && place[field] !== null)
      throw new EvsysError('CONFIG_INVALID', `${file}: ${field} is not read`, { fix: 'name a folder of those tasks.' })
  }
  const limit = 'n_tasks' in place && typeof place.n_tasks === 'number' ? place.n_tasks : undefined
  const { name, import_path, model_name, kwargs, ...jobAgent } = agent
  const { datasets: _datasets, tasks: _tasks, environment: _environment, ...rest } = job
  return {
    path: resolve(cwd, place.path),
    agent:
      import_path === undefined
        ? { kind: name === undefined ? 'oracle' : (theirs.get(name) ?? name), params: kwargs }
        : { kind: 'python', params: { import_path, kwargs } },
    model: model_name === undefined ? undefined : modelName(model_name),
    environment: { kind: environment.type ?? 'auto', params: environment.kwargs },
    numSamples: n_attempts,
    concurrent: n_concurrent_trials,
    limit,
    output: job_name === undefined ? undefined : resolve(cwd, jobs_dir, job_name),
    job: rest,
    jobAgent,
  }
}

/** Names of Harbor for agents that are like ours. */
const theirs: ReadonlyMap<string, string> = new Map([
  ['terminus-2', 'terminal'],
  ['terminus', 'terminal'],
])

// `provider/model` of Harbor.
function modelName(written: string): string {
  const [, provider, model] = /^(anthropic|openai)\/(.+)$/.exec(written) ?? []
  return provider === undefined || model === undefined ? written : `${provider}:${model}`
}

const mostBytes = 4_000_000

async function parsed(file: string): Promise<unknown> {
  const text = await readBoundedText(file, mostBytes)
  const read = await plainYaml(text)
  if ('fault' in read) {
    const where = { file, ...placeOf(text, read.at) }
    throw new EvsysError('CONFIG_SYNTAX', `${file}: ${read.fault}`, { where, fix: 'correct it at the place shown.' })
  }
  const { value } = read
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new EvsysError('CONFIG_INVALID', `${file} is no job: it holds no mapping`)
}

function single(file: string, field: string, what: string): EvsysError {
  return new EvsysError('CONFIG_INVALID', `${file}: a job here has one ${what}, and ${field} names none or several`, {
    fix: `write one file for each, and score them one after the other.`,
  })
}
