// The answers of a model behind a client to the tasks of a benchmark. It sees what is asked and never what is expected.
import type {
  Benchmark,
  ChatMessage,
  Generated,
  HarborTask,
  OpenInferenceClient,
  PluginSpec,
  Prediction,
  SealedTask,
} from '../../contracts/index.ts'
import {
  EvsysError,
  keyedRandom,
  mapConcurrent,
  type PluginServices,
  problemsOf,
  toRecord,
} from '../../kernel/index.ts'
import type { AgentOutcome } from '../../rollout/index.ts'

interface ClientQuestion {
  readonly benchmark: Pick<
    Benchmark,
    'name' | 'num_samples' | 'max_tokens' | 'temperature' | 'n_concurrent' | 'chat_template'
  >
  readonly tasks: readonly SealedTask[]
  readonly client: OpenInferenceClient
  /** Who leads the model through a task, and what finds it; absent: every task is asked once. */
  readonly withAgent?: { readonly agent: PluginSpec; readonly services: AgentQuestion['services'] } | undefined
  readonly seed: number
  readonly signal: AbortSignal
  /** Sees every answer when it is there. */
  onAnswer?: ((prediction: Prediction) => void) | undefined
}

/** One prediction per task and sample, in order. One that failed is a prediction with its error; the others continue. */
export async function answerWithClient(question: ClientQuestion): Promise<Prediction[]> {
  const { benchmark, tasks, signal, onAnswer, withAgent, client, seed } = question
  if (withAgent !== undefined) {
    return answerWithAgent({
      ...withAgent,
      benchmark,
      tasks,
      seed,
      signal,
      step: 'final',
      policy: () => client,
      onAnswer,
    })
  }
  const cells = tasks.flatMap((task) =>
    Array.from({ length: benchmark.num_samples }, (_, sample) => ({ task, sample })),
  )
  return mapConcurrent(cells, { limit: benchmark.n_concurrent, signal }, async ({ task, sample }) => {
    const prediction = await answerOnce(task, sample, question)
    onAnswer?.(prediction)
    return prediction
  })
}

async function answerOnce(
  { task_id, instruction }: SealedTask,
  sample: number,
  { benchmark, client, seed, signal }: ClientQuestion,
): Promise<Prediction> {
  try {
    const given = await client.generate(
      {
        messages: taskMessages(instruction, benchmark),
        maxTokens: benchmark.max_tokens,
        temperature: benchmark.temperature,
        seed: keyedRandom(seed, 'eval', benchmark.name, 'final', task_id, sample).uint32(),
      },
      signal,
    )
    return { task_id, sample, ...generatedPrediction(given) }
  } catch (error) {
    signal.throwIfAborted()
    const [problem] = problemsOf(error)
    const record = problem === undefined ? new EvsysError('INTERNAL', 'unknown failure').toRecord() : toRecord(problem)
    return { task_id, sample, error: record }
  }
}

// A refusal is an answer, and a wrong one as a rule: the verifier decides.
function generatedPrediction({ text, stopReason, usage }: Generated): Omit<Prediction, 'task_id' | 'sample'> {
  const { promptTokens, completionTokens, latencyS, costUsd } = usage
  return {
    output: text,
    complete: stopReason === 'stop',
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    latency_s: latencyS,
    cost_usd: costUsd,
  }
}

// The answers of an agent to the tasks of a benchmark: every attempt is run by the agent, whatever model answers. It sees what is asked
// and never what is expected.

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
  onAnswer?: ((prediction: Prediction) => void) | undefined
}

/** One prediction per task and sample, in order. One that failed is a prediction with its error; the others continue. */
export function answerWithAgent(question: AgentQuestion): Promise<Prediction[]> {
  const { benchmark, tasks, signal, onAnswer } = question
  const cells = tasks.flatMap((task) =>
    Array.from({ length: benchmark.num_samples }, (_, sample) => ({ task, sample })),
  )
  return mapConcurrent(cells, { limit: benchmark.n_concurrent, signal }, async ({ task, sample }) => {
    const prediction = await attemptTask(task, sample, question)
    onAnswer?.(prediction)
    return prediction
  })
}

async function attemptTask(task: SealedTask, sample: number, question: AgentQuestion): Promise<Prediction> {
  const { benchmark, agent, services, seed, step, signal } = question
  const { name, max_tokens: maxTokens, temperature, chat_template } = benchmark
  const { task_id } = task
  const { runAgent } = await import('../../rollout/index.ts') // only where there is an agent
  const outcome = await runAgent({
    agent,
    signal,
    sampling: { maxTokens, temperature },
    task: asTask(task, benchmark),
    policy: withSystemPrompt(question.policy(), chat_template.system_prompt),
    services: { ...services, random: (...path) => keyedRandom(seed, 'eval', name, step, task_id, sample, ...path) },
  })
  signal.throwIfAborted()
  return { task_id, sample, ...agentPrediction(outcome) }
}

// An agent that fails by its own fault has answered wrongly; a model that cannot be reached has not answered.
function agentPrediction({
  ended,
  output = '',
  truncated,
  usage,
  error,
}: AgentOutcome): Omit<Prediction, 'task_id' | 'sample'> {
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
    cost_usd: usage.costUsd,
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
    takesTools: policy.takesTools,
    generate: (request, signal) => policy.generate({ ...request, messages: led(request.messages) }, signal),
  }
}

/**
 * The conversation that a task of a benchmark begins. Every model that is scored is asked in these words, on validation and on
 * test: checkpoints in training, the untrained model, models behind an API.
 */
export function taskMessages(instruction: string, { chat_template }: Pick<Benchmark, 'chat_template'>): ChatMessage[] {
  const { system_prompt, user_template = '{prompt}' } = chat_template
  const content = user_template.split('{prompt}').join(instruction)
  return [
    ...(system_prompt === undefined ? [] : [{ role: 'system' as const, content: system_prompt }]),
    { role: 'user', content },
  ]
}

/** The benchmark with another system prompt; an empty one is none. */
export function prompted<B extends Pick<Benchmark, 'chat_template'>>(benchmark: B, systemPrompt: string): B {
  const { system_prompt: _, ...template } = benchmark.chat_template
  return {
    ...benchmark,
    chat_template: systemPrompt === '' ? template : { ...template, system_prompt: systemPrompt },
  }
}
