// The answers of a model behind a client to the tasks of a benchmark. It sees what is asked and never what is expected.
import {
  type AgentOrder,
  type AgentRecord,
  type Benchmark,
  type ChatMessage,
  ErrorRecord,
  type HarborTask,
  type OpenInferenceClient,
  type PluginSpec,
  type Prediction,
  type SealedTask,
  type Usage,
} from '../../contracts/index.ts'
import { errorRecord, keyedRandom, mapConcurrent, type PluginServices } from '../../kernel/index.ts'
import type { AgentOutcome } from '../../rollout/index.ts'

interface Question {
  readonly benchmark: Pick<
    Benchmark,
    'name' | 'num_samples' | 'max_tokens' | 'temperature' | 'n_concurrent' | 'chat_template'
  >
  readonly tasks: readonly SealedTask[]
  readonly seed: number
  readonly signal: AbortSignal
  /** Sees every answer when it is there. */
  onAnswer?: ((prediction: Prediction) => void) | undefined
}

interface ClientQuestion extends Question {
  readonly client: OpenInferenceClient
  /** The agent that runs the model through a task, and what finds it; absent: every task is asked once. */
  readonly withAgent?: Pick<AgentQuestion, 'agent' | 'services' | 'runElsewhere'> | undefined
}

/** One prediction per task and sample, in order. One that failed is a prediction with its error; the others continue. */
export async function answerWithClient(question: ClientQuestion): Promise<Prediction[]> {
  const { withAgent, client } = question
  if (withAgent === undefined) return eachSample(question, (task, sample) => answerOnce(task, sample, question))
  return answerWithAgent({ ...question, ...withAgent, step: 'final', policy: () => client })
}

function eachSample(
  { benchmark, tasks, signal, onAnswer }: Question,
  answer: (task: SealedTask, sample: number) => Promise<Prediction>,
): Promise<Prediction[]> {
  const cells = tasks.flatMap((task) =>
    Array.from({ length: benchmark.num_samples }, (_, sample) => ({ task, sample })),
  )
  return mapConcurrent(cells, { limit: benchmark.n_concurrent, signal }, async ({ task, sample }) => {
    const prediction = await answer(task, sample)
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
    const { text, stopReason, usage, tokens } = await client.generate(
      {
        messages: taskMessages(instruction, benchmark),
        maxTokens: benchmark.max_tokens,
        temperature: benchmark.temperature,
        seed: keyedRandom(seed, 'eval', benchmark.name, 'final', task_id, sample).uint32(),
      },
      signal,
    )
    // A refusal is an answer, and a wrong one as a rule: the verifier decides.
    return {
      task_id,
      sample,
      output: text,
      complete: stopReason === 'stop',
      ...usageFields(usage),
      ...logprobFields(tokens),
    }
  } catch (error) {
    signal.throwIfAborted()
    return { task_id, sample, error: errorRecord(error) }
  }
}

/** To six decimals: what is stored for every token of every answer should be short. */
export function logprobFields(
  drawn: { readonly logprobs: ArrayLike<number> } | undefined,
): Pick<Prediction, 'logprobs'> {
  if (drawn === undefined || drawn.logprobs.length === 0) return {}
  return {
    logprobs: Array.from(drawn.logprobs, (each) => (Number.isFinite(each) ? Math.round(each * 1e6) / 1e6 : null)),
  }
}

function usageFields({ promptTokens, completionTokens, latencyS, costUsd }: Usage) {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, latency_s: latencyS, cost_usd: costUsd }
}

// The answers of an agent to the tasks of a benchmark: every attempt is run by the agent, whatever model answers. It sees what is asked
// and never what is expected.

export interface AgentQuestion extends Question {
  readonly agent: PluginSpec
  readonly services: Pick<PluginServices, 'registry' | 'log' | 'secret'>
  policy(): OpenInferenceClient
  /** Runs the agent where code of the project runs; absent: it runs here. */
  runElsewhere?: ((order: AgentOrder) => Promise<AgentRecord>) | undefined
  /** Part of the address of every draw, so that evaluations of a benchmark do not share draws. */
  readonly step: number | 'final'
}

/** One prediction per task and sample, in order. One that failed is a prediction with its error; the others continue. */
export function answerWithAgent(question: AgentQuestion): Promise<Prediction[]> {
  return eachSample(question, (task, sample) => attemptTask(task, sample, question))
}

async function attemptTask(task: SealedTask, sample: number, question: AgentQuestion): Promise<Prediction> {
  const { benchmark, agent, services, seed, step, signal } = question
  const { name, max_tokens: maxTokens, temperature, chat_template } = benchmark
  const { task_id } = task
  const seedPath = ['eval', name, step, task_id, sample]
  const { runElsewhere } = question
  if (runElsewhere !== undefined) {
    const { instruction, metadata } = asTask(task, benchmark)
    const asked = { task_id, instruction, metadata, system_prompt: chat_template.system_prompt, seed_path: seedPath }
    const takes_tools = question.policy().takesTools === true
    const record = await runElsewhere({ ...asked, agent, max_tokens: maxTokens, temperature, takes_tools })
    signal.throwIfAborted()
    return { task_id, sample, ...agentPrediction(outcomeOf(record)) }
  }
  const { runAgent } = await import('../../rollout/index.ts') // only where there is an agent
  const outcome = await runAgent({
    agent,
    signal,
    sampling: { maxTokens, temperature },
    task: asTask(task, benchmark),
    policy: withSystemPrompt(question.policy(), chat_template.system_prompt),
    services: { ...services, random: (...path) => keyedRandom(seed, ...seedPath, ...path) },
  })
  signal.throwIfAborted()
  return { task_id, sample, ...agentPrediction(outcome) }
}

type Outcome = Pick<AgentOutcome, 'ended' | 'output' | 'truncated' | 'usage' | 'error'>

function outcomeOf(record: AgentRecord): Outcome {
  const { output, truncated, error, is_late, prompt_tokens, completion_tokens, latency_s } = record
  const usage = { promptTokens: prompt_tokens, completionTokens: completion_tokens, latencyS: latency_s }
  const ended = error === undefined ? 'done' : is_late === true ? 'timeout' : 'failed'
  return { ended, output, truncated, usage, error }
}

// An agent that fails by itself has answered wrongly, and is counted; a model that cannot be reached has not answered.
function agentPrediction({ ended, output, truncated, usage, error }: Outcome): Omit<Prediction, 'task_id' | 'sample'> {
  const record = error === undefined ? undefined : ErrorRecord.strip().parse(error)
  if (error?.infra === true) return { error: record }
  return {
    output: ended === 'failed' ? '' : (output ?? ''),
    complete: ended === 'done' && truncated === undefined,
    ...usageFields(usage),
    // What an agent said before its time was up is its answer.
    agent_error: ended === 'failed' || output === undefined ? record : undefined,
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
  const prefixed = ([first, ...rest]: readonly ChatMessage[]): ChatMessage[] => {
    if (first === undefined) return [{ role: 'system', content: prompt }]
    if (first.role !== 'system' || typeof first.content !== 'string') {
      return [{ role: 'system', content: prompt }, first, ...rest]
    }
    return [{ ...first, content: `${prompt}\n\n${first.content}` }, ...rest]
  }
  return {
    takesTools: policy.takesTools,
    generate: (request, signal) => policy.generate({ ...request, messages: prefixed(request.messages) }, signal),
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
