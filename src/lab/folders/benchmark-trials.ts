// A benchmark of task folders, attempted in the controller: it holds the tests, runs no code of the project, and gets from elsewhere
// only what the policy says. So a recipe sees the conversation of its agent, and nothing else of a task.
import { rm } from 'node:fs/promises'
import type { Benchmark, OpenInferenceClient, PluginSpec, Prediction } from '../../contracts/index.ts'
import { type TrialReward, taskMessages, withSystemPrompt } from '../../evaluate/index.ts'
import {
  createRegistry,
  EvsysError,
  keyedRandom,
  mapConcurrent,
  type PluginServices,
  problemsOf,
  toRecord,
} from '../../kernel/index.ts'
import type { LoadedTask } from '../../rollout/index.ts'
import { builtins } from '../builtins.ts'
import { type AttemptedFolder, attemptFolder } from './attempt-folder.ts'
import { loadUnchanged } from './task-folders-of.ts'

export interface BenchmarkTrials {
  readonly benchmark: Pick<
    Benchmark,
    'name' | 'num_samples' | 'max_tokens' | 'temperature' | 'n_concurrent' | 'chat_template'
  >
  readonly tasks: readonly LoadedTask[]
  readonly agent: PluginSpec
  /** The model in one session: a part of one attempt. */
  policy(session: string): OpenInferenceClient
  readonly seed: number
  /** Part of the address of every draw, so that each look at a benchmark is its own. */
  readonly step: number | 'final'
  /** Folder for files of the trials that code of the project must not see. */
  readonly scratch: string
  readonly signal: AbortSignal
  /** Sees what every attempt ended with when it is there. */
  onAnswer?(prediction: Prediction): void
}

/** Answers and rewards, one for each task and sample, in order. */
export interface TrialResults {
  readonly predictions: Prediction[]
  readonly rewards: TrialReward[]
}

/** Agents that are all ours: no code, program or server that an experiment names runs in them. */
const trusted: readonly string[] = ['chat', 'shell_loop', 'terminal', 'nop']

/** Checks that an agent may attempt a benchmark of task folders. */
export function requireTrialAgent(agent: PluginSpec | undefined, benchmark: string): PluginSpec {
  const fix = `name one of ${trusted.join(', ')}: agent: shell_loop, in the benchmark or in the run.`
  if (agent === undefined) {
    throw new EvsysError('CONFIG_INVALID', `benchmark "${benchmark}" is made of task folders, and no agent is named`, {
      fix,
    })
  }
  if (!trusted.includes(agent.kind)) {
    throw new EvsysError(
      'CONFIG_INVALID',
      `benchmark "${benchmark}" is made of task folders, and the agent "${agent.kind}" may run code of the project: it would be beside the tests`,
      { fix },
    )
  }
  if (typeof agent.params.user !== 'string') return agent
  throw new EvsysError(
    'CONFIG_INVALID',
    `benchmark "${benchmark}" is made of task folders, and the user of its agent is code of the project: ${agent.params.user}`,
    { fix: 'write the turns of the user down: user_turns.' },
  )
}

export async function runBenchmarkTrials(trials: BenchmarkTrials): Promise<TrialResults> {
  const { benchmark, tasks, scratch, signal } = trials
  const services = await servicesOf(trials.seed)
  const cells = tasks.flatMap((task) =>
    Array.from({ length: benchmark.num_samples }, (_, sample) => ({ task, sample })),
  )
  try {
    const done = await mapConcurrent(cells, { limit: benchmark.n_concurrent, signal }, async ({ task, sample }) => {
      const key = { task_id: task.name, sample }
      const attempted = await attempt(trials, task, sample, services)
      const prediction = { ...key, ...predictionOf(attempted) }
      trials.onAnswer?.(prediction)
      return { prediction, reward: { ...key, ...rewardOf(attempted) } }
    })
    return { predictions: done.map(({ prediction }) => prediction), rewards: done.map(({ reward }) => reward) }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function attempt(
  trials: BenchmarkTrials,
  task: LoadedTask,
  sample: number,
  services: Omit<PluginServices, 'signal'>,
): Promise<AttemptedFolder> {
  const { benchmark, agent: spec, seed, step: look, scratch, signal } = trials
  const { name, max_tokens: maxTokens, temperature, chat_template } = benchmark
  try {
    return await attemptFolder({
      ...{ task: await loadUnchanged(task.path, task.digest), services, scratch, signal },
      words: (instruction) => String(taskMessages(instruction, benchmark).at(-1)?.content ?? instruction),
      agent: {
        spec,
        sampling: { maxTokens, temperature },
        random: ({ step }, ...path) => keyedRandom(seed, 'eval', name, look, task.name, sample, step, ...path),
        policy: ({ step }) =>
          withSystemPrompt(trials.policy(JSON.stringify([task.name, sample, step])), chat_template.system_prompt),
      },
    })
  } catch (error) {
    signal.throwIfAborted()
    const [problem] = problemsOf(error)
    const record = problem === undefined ? new EvsysError('INTERNAL', 'unknown failure').toRecord() : toRecord(problem)
    const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }
    return { turns: [], usage, error: { ...record, infra: true } }
  }
}

// A failure of the agent without a reward is a failure of the answer; one of infrastructure leaves the reward open.
function rewardOf({ reward, error }: AttemptedFolder): Pick<TrialReward, 'reward' | 'reason'> {
  if (reward !== undefined) return { reward }
  return error?.infra === false ? { reward: 0 } : { reward: null, reason: error?.message ?? 'nothing was scored' }
}

function predictionOf({
  output = '',
  truncated,
  usage,
  error,
}: AttemptedFolder): Omit<Prediction, 'task_id' | 'sample'> {
  if (error?.infra === true) {
    const { infra: _, ...record } = error
    return { error: record }
  }
  return {
    output,
    complete: error === undefined && truncated === undefined,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    latency_s: usage.latencyS,
    ...(usage.costUsd === undefined ? {} : { cost_usd: usage.costUsd }),
  }
}

async function servicesOf(seed: number): Promise<Omit<PluginServices, 'signal'>> {
  const registry = createRegistry()
  for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  return {
    registry,
    random: (...path) => keyedRandom(seed, ...path),
    log: () => {},
    secret(name) {
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is not used in trials of a benchmark`)
    },
  }
}
