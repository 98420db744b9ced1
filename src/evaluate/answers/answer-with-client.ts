// The answers of a model behind a client to the tasks of a benchmark. It sees what is asked and never what is expected.
import type {
  Benchmark,
  Generated,
  OpenInferenceClient,
  PluginSpec,
  Prediction,
  SealedTask,
} from '../../contracts/index.ts'
import { EvsysError, keyedRandom, mapConcurrent, problemsOf, toRecord } from '../../kernel/index.ts'
import { type AgentQuestion, answerWithAgent } from './answer-with-agent.ts'
import { taskMessages } from './task-messages.ts'

export interface ClientQuestion {
  readonly benchmark: Pick<
    Benchmark,
    'name' | 'num_samples' | 'max_tokens' | 'temperature' | 'n_concurrent' | 'chat_template'
  >
  readonly tasks: readonly SealedTask[]
  readonly client: OpenInferenceClient
  /** Who leads the model through a task, and what finds it; absent: every task is asked once. */
  readonly led?: { readonly agent: PluginSpec; readonly services: AgentQuestion['services'] } | undefined
  readonly seed: number
  readonly signal: AbortSignal
  /** Sees every answer when it is there. */
  onAnswer?(prediction: Prediction): void
}

/** One prediction per task and sample, in order. One that failed is a prediction with its error; the others go on. */
export async function answerWithClient(question: ClientQuestion): Promise<Prediction[]> {
  const { benchmark, tasks, signal, onAnswer, led, client, seed } = question
  if (led !== undefined) {
    return answerWithAgent({
      ...{ ...led, benchmark, tasks, seed, signal, step: 'final', policy: () => client },
      ...(onAnswer === undefined ? {} : { onAnswer }),
    })
  }
  const cells = tasks.flatMap((task) =>
    Array.from({ length: benchmark.num_samples }, (_, sample) => ({ task, sample })),
  )
  return mapConcurrent(cells, { limit: benchmark.n_concurrent, signal }, async ({ task, sample }) => {
    const prediction = await answer(task, sample, question)
    onAnswer?.(prediction)
    return prediction
  })
}

async function answer(
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
    return { task_id, sample, ...taken(given) }
  } catch (error) {
    signal.throwIfAborted()
    const [problem] = problemsOf(error)
    const record = problem === undefined ? new EvsysError('INTERNAL', 'unknown failure').toRecord() : toRecord(problem)
    return { task_id, sample, error: record }
  }
}

// A refusal is an answer, and a wrong one as a rule: the verifier decides.
function taken({ text, stopReason, usage }: Generated): Omit<Prediction, 'task_id' | 'sample'> {
  const { promptTokens, completionTokens, latencyS, costUsd } = usage
  return {
    output: text,
    complete: stopReason === 'stop',
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    latency_s: latencyS,
    ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
  }
}
