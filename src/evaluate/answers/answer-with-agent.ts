// The answers of an agent to the tasks of a benchmark: every attempt is led by the agent, whatever model answers. It sees what is asked
// and never what is expected.
import type {
  Benchmark,
  ChatMessage,
  HarborTask,
  OpenInferenceClient,
  PluginSpec,
  Prediction,
  SealedTask,
} from '../../contracts/index.ts'
import { keyedRandom, mapConcurrent, type PluginServices } from '../../kernel/index.ts'
import type { AgentOutcome } from '../../rollout/index.ts'
import { taskMessages } from './task-messages.ts'

export interface AgentQuestion {
  readonly benchmark: Pick<
    Benchmark,
    'name' | 'num_samples' | 'max_tokens' | 'temperature' | 'n_concurrent' | 'chat_template'
  >
  readonly tasks: readonly SealedTask[]
  readonly agent: PluginSpec
  readonly services: Pick<PluginServices, 'registry' | 'log' | 'secret'>
  /** The model of one attempt. */
  policy(): OpenInferenceClient
  readonly seed: number
  /** Part of the address of every draw, so that each look at a benchmark is its own. */
  readonly step: number | 'final'
  readonly signal: AbortSignal
  /** Sees every answer when it is there. */
  onAnswer?(prediction: Prediction): void
}

/** One prediction per task and sample, in order. One that failed is a prediction with its error; the others go on. */
export function answerWithAgent(question: AgentQuestion): Promise<Prediction[]> {
  const { benchmark, tasks, signal, onAnswer } = question
  const cells = tasks.flatMap((task) =>
    Array.from({ length: benchmark.num_samples }, (_, sample) => ({ task, sample })),
  )
  return mapConcurrent(cells, { limit: benchmark.n_concurrent, signal }, async ({ task, sample }) => {
    const prediction = await answer(task, sample, question)
    onAnswer?.(prediction)
    return prediction
  })
}

async function answer(task: SealedTask, sample: number, question: AgentQuestion): Promise<Prediction> {
  const { benchmark, agent, services, seed, step, signal } = question
  const { name, max_tokens: maxTokens, temperature, chat_template } = benchmark
  const { task_id } = task
  const { runAgent } = await import('../../rollout/index.ts') // only where there is an agent
  const outcome = await runAgent({
    ...{ agent, signal, sampling: { maxTokens, temperature } },
    task: asTask(task, benchmark),
    policy: withSystemPrompt(question.policy(), chat_template.system_prompt),
    services: { ...services, random: (...path) => keyedRandom(seed, 'eval', name, step, task_id, sample, ...path) },
  })
  signal.throwIfAborted()
  return { task_id, sample, ...taken(outcome) }
}

// An agent that fails by its own fault has answered wrongly; a model that cannot be reached has not answered.
function taken({ ended, output = '', truncated, usage, error }: AgentOutcome): Omit<Prediction, 'task_id' | 'sample'> {
  if (error?.infra === true) {
    const { infra: _, ...record } = error
    return { error: record }
  }
  return {
    output: ended === 'failed' ? '' : output,
    complete: ended === 'done' && truncated === undefined,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    latency_s: usage.latencyS,
    ...(usage.costUsd === undefined ? {} : { cost_usd: usage.costUsd }),
  }
}

/** The task as an agent may see it: in the words of the benchmark, with a verifier that says nothing. */
function asTask({ task_id, instruction, user_turns }: SealedTask, benchmark: AgentQuestion['benchmark']): HarborTask {
  const asked = taskMessages(instruction, benchmark).at(-1)?.content
  return {
    task_id,
    instruction: typeof asked === 'string' ? asked : instruction,
    verifier: { kind: 'in_process', fn_name: 'sealed', expected: undefined, params: {} },
    metadata: user_turns === undefined ? {} : { user_turns },
  }
}

/** The system prompt of the benchmark stands before that of the agent. */
export function withSystemPrompt(policy: OpenInferenceClient, prompt: string | undefined): OpenInferenceClient {
  if (prompt === undefined) return policy
  const led = ([first, ...rest]: readonly ChatMessage[]): ChatMessage[] => {
    if (first === undefined) return [{ role: 'system', content: prompt }]
    if (first.role !== 'system' || typeof first.content !== 'string') {
      return [{ role: 'system', content: prompt }, first, ...rest]
    }
    return [{ ...first, content: `${prompt}\n\n${first.content}` }, ...rest]
  }
  return {
    ...(policy.takesTools === undefined ? {} : { takesTools: policy.takesTools }),
    generate: (request, signal) => policy.generate({ ...request, messages: led(request.messages) }, signal),
  }
}
