// An agent, and the model behind it, on a folder of task folders: a job, and the score of its trials. The folder of the job is all that
// is kept; run again with the same folder it resumes.
import { basename, join } from 'node:path'
import type { PluginSpec, Sampling, Usage } from '../../contracts/index.ts'
import { type RewardScore, rewardMetrics, scoreRewards } from '../../evaluate/index.ts'
import { EvsysError, equipPlugin, hashOf, keyedRandom, type SecretSource } from '../../kernel/index.ts'
import { meterUsage, openInferenceClient } from '../../models/index.ts'
import {
  type AgentInfo,
  folderAgent,
  folderEnvironment,
  JobConfig,
  type JobEnd,
  type JobTrial,
  loadTaskDataset,
  runJob,
} from '../../rollout/index.ts'
import { builtinServices } from './builtin-services.ts'

interface TaskFoldersOptions {
  /** A task folder, or a folder of such folders. */
  readonly path: string
  /** Folder of the job. */
  readonly outputDir: string
  readonly agent: PluginSpec
  /** Absent: the agent asks no model. */
  readonly model?: { readonly label: string; readonly client: PluginSpec } | undefined
  readonly environment: PluginSpec
  readonly sampling: Sampling
  readonly maxTurns?: number | undefined
  readonly numSamples: number
  readonly limit?: number | undefined
  readonly concurrent: number
  readonly maxRetries: number
  readonly metrics: readonly string[]
  /** Further fields of the job, and of its agent, as a job file has them. */
  readonly job?: Readonly<Record<string, unknown>> | undefined
  readonly jobAgent?: Readonly<Record<string, unknown>> | undefined
  readonly seed?: number | undefined
  readonly secretSource: Pick<SecretSource, 'get'>
  readonly hostEnv: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  onTrial?: ((trial: JobTrial, done: number, total: number) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

interface TaskFoldersScore {
  readonly name: string
  readonly end: JobEnd
  readonly score: RewardScore
  /** Over the tasks as they are: scores compare only where it is equal. */
  readonly benchmarkHash: string
  readonly nTasks: number
  readonly failures: readonly { readonly message: string; readonly count: number }[]
}

export async function runTaskFolders(options: TaskFoldersOptions): Promise<TaskFoldersScore> {
  const { path, agent, model, signal, numSamples, limit, seed = 42, hostEnv } = options
  const dataset = await loadTaskDataset(path)
  for (const { path: child, problems } of dataset.invalid)
    options.onNotice?.(`${child} is no valid task: ${problems[0]?.message ?? ''}`)
  const tasks = dataset.tasks.slice(0, limit)
  const services = await builtinServices({ seed, secretSource: options.secretSource })
  const { plugin } = services.registry.get('agent', agent.kind)
  if (plugin.needs?.model !== false && model === undefined) {
    throw new EvsysError('CLI_USAGE', `the agent "${agent.kind}" needs a model`, {
      fix: 'add --model claude-sonnet-4-6, or another.',
    })
  }
  // What no trial could use is refused before the first one.
  equipPlugin('agent', agent, { ...services, signal })
  if (options.environment.kind !== 'auto') equipPlugin('environment', options.environment, { ...services, signal })
  rewardMetrics(options.metrics, numSamples, { ...services, signal })
  const isOne = tasks.length === 1 && tasks[0]?.path === dataset.path
  const source = isOne ? undefined : basename(dataset.path)
  const config = JobConfig.parse({
    retry: { max_retries: options.maxRetries },
    ...options.job,
    n_attempts: numSamples,
    n_concurrent_trials: options.concurrent,
    agents: [
      {
        ...options.jobAgent,
        name: agent.kind,
        kwargs: { ...agent.params, sampling: options.sampling, max_turns: options.maxTurns ?? null, seed },
        model_name: model?.label,
      },
    ],
    environment: { type: options.environment.kind, kwargs: options.environment.params },
    tasks: isOne ? [{ path: dataset.path }] : undefined,
    datasets: isOne ? undefined : [{ path: dataset.path, n_tasks: limit }],
  })
  const opened =
    model === undefined ? undefined : meterUsage(await openInferenceClient(model.client, { ...services, signal }))
  const total = tasks.length * numSamples
  let done = 0
  try {
    const end = await runJob({
      config,
      dir: options.outputDir,
      hostEnv,
      signal,
      tasks: tasks.map((task) => ({ path: task.path, name: task.name, task, source })),
      async prepare({ attempt }) {
        const { sampling, maxTurns } = options
        return {
          openEnvironment: folderEnvironment(options.environment, services),
          agentInfo: agentInfo(options),
          runAgent: folderAgent(
            {
              spec: agent,
              policy: opened === undefined ? undefined : () => opened.client,
              sampling,
              random: ({ taskId, step }, ...path) => keyedRandom(seed, 'rollout', taskId, step, attempt, ...path),
              maxTurns,
            },
            services,
          ),
        }
      },
      onTrial: (trial) => options.onTrial?.(trial, ++done, total),
    })
    const trials = tasks.map((task) => end.trials.filter(({ planned }) => planned.jobTask.path === task.path))
    const rewards = trials.map((each) => each.map(rewardOf))
    const filled = rewards.map((each) => [...each, ...Array<null>(numSamples - each.length).fill(null)])
    const usage = trials.map((each) => each.map(usageOf))
    return {
      name: basename(dataset.path),
      end,
      score: scoreRewards(options.metrics, filled, usage, { ...services, signal }),
      benchmarkHash: hashOf(tasks.map(({ name, digest }) => [name, digest])),
      nTasks: tasks.length,
      failures: failuresOf(end),
    }
  } finally {
    await opened?.client[Symbol.asyncDispose]?.()
  }
}

// A failure of the agent without a reward is a failure of the answer; one of infrastructure leaves the reward open.
function rewardOf({ reward, error, result }: JobTrial): number | null {
  if (reward !== undefined) return reward
  return error !== undefined && !error.infra && result.verifier_result === null ? 0 : null
}

function usageOf({ result }: JobTrial): Usage {
  const parts = result.step_results?.map((step) => step.agent_result) ?? [result.agent_result]
  const sum = (field: 'n_input_tokens' | 'n_output_tokens' | 'cost_usd') =>
    parts.reduce((total, each) => total + (each?.[field] ?? 0), 0)
  const seconds = (Date.parse(result.finished_at ?? '') - Date.parse(result.started_at ?? '')) / 1000
  const isPriced = parts.every((each) => each?.cost_usd !== null)
  return {
    promptTokens: sum('n_input_tokens'),
    completionTokens: sum('n_output_tokens'),
    latencyS: Number.isFinite(seconds) ? seconds : 0,
    costUsd: isPriced ? sum('cost_usd') : undefined,
  }
}

function failuresOf({ trials }: JobEnd): { message: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { reward, error, result } of trials) {
    if (reward !== undefined) continue
    const keys = Object.keys(result.verifier_result?.rewards ?? {})
    const message = error?.message ?? `several rewards (${keys.join(', ')}) and none is called "reward"`
    counts.set(message, (counts.get(message) ?? 0) + 1)
  }
  return [...counts].map(([message, count]) => ({ message, count })).sort((a, b) => b.count - a.count)
}

function agentInfo({ agent, model }: TaskFoldersOptions): AgentInfo {
  const [provider, ...rest] = (model?.label ?? '').split('/')
  const named =
    rest.length === 0 ? { name: provider ?? '', provider: null } : { name: rest.join('/'), provider: provider ?? null }
  return { name: agent.kind, version: '1', model_info: model === undefined ? null : named }
}

/** Where a job goes when no folder is named. */
export function newJobFolder(base: string, now: Date): string {
  return join(base, now.toISOString().slice(0, 19).replace('T', '__').replaceAll(':', '-'))
}
