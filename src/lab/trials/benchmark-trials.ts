// A benchmark of task folders, attempted in the controller: it holds the tests, runs no code of the project, and gets from elsewhere
// only what the policy says, or what an agent of the project asks of its environment. So a recipe sees the conversation of its agent
// and what the agent finds, and nothing else of a task.
import type {
  AgentOrder,
  AgentRecord,
  Benchmark,
  OpenInferenceClient,
  PluginSpec,
  Prediction,
  Turn,
} from '../../contracts/index.ts'
import { loadUnchanged, type TrialReward, taskMessages, withSystemPrompt } from '../../evaluate/index.ts'
import {
  EvsysError,
  errorRecord,
  keyedRandom,
  mapConcurrent,
  type PluginServices,
  type SecretSource,
} from '../../kernel/index.ts'
import {
  type AttemptedFolder,
  attemptFolder,
  folderAgent,
  keepTrial,
  type LoadedTask,
  type RunTrialAgent,
  trialError,
} from '../../rollout/index.ts'
import type { RunAgent } from '../workers/worker-process.ts'
import { builtinServices } from './builtin-services.ts'

export interface BenchmarkTrials {
  readonly benchmark: Pick<
    Benchmark,
    'name' | 'num_samples' | 'max_tokens' | 'temperature' | 'n_concurrent' | 'chat_template'
  >
  readonly tasks: readonly LoadedTask[]
  readonly agent: PluginSpec
  /** Absent: the least that holds each task. */
  readonly environment?: PluginSpec | undefined
  /** The model in one session: a part of one attempt. */
  policy(session: string): OpenInferenceClient
  /** Whether the model can be given tools; absent: it is told of them in words. */
  readonly takesTools?: boolean | undefined
  /** Runs the agent where the code of the project is; absent: it is all ours, and runs here. */
  readonly runAgent?: RunAgent | undefined
  readonly seed: number
  /** Part of the address of every draw, so that evaluations of a benchmark do not share draws. */
  readonly step: number | 'final'
  /** Folder for files of the trials that code of the project must not see. */
  readonly scratch: string
  /** Where results and trajectories are kept: `place`, below a folder that exists. Absent: nowhere. */
  readonly kept?: { readonly root: string; readonly place: string } | undefined
  readonly secretSource?: Pick<SecretSource, 'get'> | undefined
  readonly signal: AbortSignal
  /** Sees what every attempt ended with when it is there. */
  onAnswer?: ((prediction: Prediction) => void) | undefined
}

/** Fewer say nothing about those that are left. */
const LEAST_FAILURES = 5

interface Cell {
  readonly task: LoadedTask
  readonly sample: number
  readonly index: number
}

/** Answers and rewards, one for each task and sample, in order. */
export async function runBenchmarkTrials(trials: BenchmarkTrials) {
  const { benchmark, tasks, signal } = trials
  const services = await builtinServices(trials)
  const cells = tasks.flatMap((task, index) =>
    Array.from({ length: benchmark.num_samples }, (_, sample): Cell => ({ task, sample, index })),
  )
  const guard = new InfraGuard(Math.max(LEAST_FAILURES, benchmark.n_concurrent))
  const done = await mapConcurrent(cells, { limit: benchmark.n_concurrent, signal }, async (cell) => {
    const key = { task_id: cell.task.name, sample: cell.sample }
    const attempted = await attempt(trials, cell, services, guard)
    const prediction = { ...key, ...predictionOf(attempted) }
    trials.onAnswer?.(prediction)
    return { prediction, reward: { ...key, ...rewardOf(attempted) } }
  })
  return { predictions: done.map(({ prediction }) => prediction), rewards: done.map(({ reward }) => reward) }
}

async function attempt(
  trials: BenchmarkTrials,
  { task, sample, index }: Cell,
  services: Omit<PluginServices, 'signal'>,
  guard: InfraGuard,
): Promise<AttemptedFolder> {
  const { benchmark, agent, environment, scratch, kept, signal } = trials
  if (guard.stopped !== undefined) return failed(guard.stopped)
  const place = `${String(index).padStart(4, '0')}-${task.name.replaceAll(/[^\w.-]+/g, '_').slice(0, 60)}__${sample}`
  try {
    const attempted = await attemptFolder({
      task: await loadUnchanged(task.path, task.digest),
      services,
      scratch,
      signal,
      environment,
      words: (instruction) => String(taskMessages(instruction, benchmark).at(-1)?.content ?? instruction),
      agent: agent.kind,
      runAgent: runnerOf(trials, task, sample, services),
      keep: kept && ((record, number) => keepTrial(record, kept.root, `${kept.place}/${place}`, number)),
    })
    guard.ended(attempted.error?.infra === true ? attempted.error.message : undefined)
    return attempted
  } catch (error) {
    signal.throwIfAborted()
    const attempted = failed(error)
    guard.ended(attempted.error?.message)
    return attempted
  }
}

function runnerOf(
  { benchmark, agent: spec, runAgent, policy, takesTools = false, seed, step: at, scratch }: BenchmarkTrials,
  { name: task }: LoadedTask,
  sample: number,
  services: Omit<PluginServices, 'signal'>,
): RunTrialAgent {
  const { name, max_tokens, temperature, chat_template } = benchmark
  const { system_prompt } = chat_template
  const seedPath = (step: string) => ['eval', name, at, task, sample, step]
  if (runAgent !== undefined) {
    const order = { agent: spec, max_tokens, temperature, system_prompt }
    return workerAgent(runAgent, order, { seedPath, scratch, policy, takesTools, at: [task, sample] })
  }
  return folderAgent(
    {
      spec,
      sampling: { maxTokens: max_tokens, temperature },
      random: ({ step }, ...path) => keyedRandom(seed, ...seedPath(step), ...path),
      policy: ({ step }) => withSystemPrompt(policy(JSON.stringify([task, sample, step])), system_prompt),
      hidesFolder: true,
    },
    services,
  )
}

/** An agent of the project in a trial: it runs in the worker, over the environment that is here. */
function workerAgent(
  runAgent: RunAgent,
  order: Pick<AgentOrder, 'agent' | 'system_prompt' | 'max_tokens' | 'temperature'>,
  {
    seedPath,
    scratch,
    policy: policyOf,
    takesTools,
    at,
  }: Pick<BenchmarkTrials, 'scratch' | 'policy'> & {
    takesTools: boolean
    seedPath: (step: string) => (string | number)[]
    /** The task and the sample. */
    at: readonly (string | number)[]
  },
): RunTrialAgent {
  return async ({ task, folder, environment }, signal) => {
    const { task_id, instruction, metadata } = task
    const { level, workdir } = environment
    const seed_path = seedPath(folder.step ?? '')
    const policy = policyOf(JSON.stringify([...at, folder.step]))
    const given = { environment: { level, workdir }, takes_tools: takesTools, seed_path }
    const whole = { ...order, task_id, instruction, metadata, ...given }
    const record = await runAgent({ order: whole, policy, environment: { held: environment, scratch } }, signal)
    const { output, truncated, prompt_tokens, completion_tokens, latency_s, error, is_late } = record
    const isLate = error !== undefined && is_late === true
    return {
      turns: turnsOf(record),
      usage: { promptTokens: prompt_tokens, completionTokens: completion_tokens, latencyS: latency_s },
      output,
      truncated,
      error: isLate ? trialError('AgentTimeoutError', error.message) : error,
    }
  }
}

function turnsOf({ turns }: AgentRecord): Turn[] {
  const all: Turn[] = []
  for (const { kept, messages, text, tool_calls: toolCalls, stop_reason: stopReason } of turns) {
    all.push({ messages: [...(all.at(-1)?.messages.slice(0, kept) ?? []), ...messages], text, stopReason, toolCalls })
  }
  return all
}

function failed(error: unknown): AttemptedFolder {
  const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }
  return { turns: [], usage, error: { ...errorRecord(error), infra: true } }
}

// A failure of the agent without a reward is a failure of the answer; one of infrastructure leaves the reward open.
function rewardOf({ reward, error }: AttemptedFolder): Pick<TrialReward, 'reward' | 'reason'> {
  if (reward !== undefined) return { reward }
  return error?.infra === false ? { reward: 0 } : { reward: null, reason: error?.message ?? 'nothing was scored' }
}

function recordOf({ infra: _, ...record }: NonNullable<AttemptedFolder['error']>) {
  return record
}

function predictionOf({
  output = '',
  truncated,
  usage,
  error,
}: AttemptedFolder): Omit<Prediction, 'task_id' | 'sample'> {
  const agent_error = error === undefined ? undefined : recordOf(error)
  if (error?.infra === true) return { error: agent_error }
  return {
    output,
    agent_error,
    complete: error === undefined && truncated === undefined,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    latency_s: usage.latencyS,
    cost_usd: usage.costUsd,
  }
}

/** When most attempts fail by infrastructure the rest would too: they are not made, and the reason is reported once. */
export class InfraGuard {
  /** Why no further attempt is made; absent: they are. */
  stopped: EvsysError | undefined
  readonly #least: number
  #over = 0
  #failed = 0

  /** `least`: attempts that have to be over before anything is concluded from them. */
  constructor(least: number) {
    this.#least = least
  }

  /** An attempt has ended; `failure`: of infrastructure. */
  ended(failure: string | undefined): void {
    this.#over += 1
    if (failure === undefined) return
    this.#failed += 1
    if (this.#over < this.#least || this.#failed * 2 <= this.#over) return
    const counts = `${this.#failed} of ${this.#over} attempts failed by infrastructure`
    const fix = 'see to that failure, then score again.'
    this.stopped ??= new EvsysError('ENVIRONMENT_FAILED', `not attempted: ${counts}, the last with: ${failure}`, {
      fix,
    })
  }
}
