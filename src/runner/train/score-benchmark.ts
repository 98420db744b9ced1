// One evaluation on a benchmark: answers of some weights, scored elsewhere, reported as events as soon as they are there.
import { readFile } from 'node:fs/promises'
import {
  agentOf,
  type ErrorRecord,
  type OpenRenderer,
  type PluginSpec,
  type Prediction,
  type Scored,
  type SealedBenchmark,
  SealedTask,
  type Weights,
} from '../../contracts/index.ts'
import {
  type AgentQuestion,
  answerWithAgent,
  answerWithClient,
  logprobFields,
  prompted,
  taskMessages,
} from '../../evaluate/index.ts'
import { announceWait, errorRecord, keyedRandom, mapConcurrent } from '../../kernel/index.ts'
import { createTokenPolicy } from '../../rollout/index.ts'
import { attemptTasks } from './attempt-tasks.ts'
import type { OpenModel } from './open-model.ts'
import { callbackScope, type RunScope } from './run-scope.ts'

export interface BenchmarkEval {
  readonly benchmark: SealedBenchmark
  readonly scored: Omit<Scored, 'predictions'>
  readonly predictions: readonly Prediction[]
  readonly step?: number | undefined
  /** The first error, where every attempt failed. */
  readonly failure?: ErrorRecord | undefined
}

/** Scores `weights` on a benchmark; without `step`, after training. */
export async function scoreBenchmark(
  scope: RunScope,
  benchmark: SealedBenchmark,
  weights: Weights,
): Promise<BenchmarkEval> {
  const evaluated = await evaluateBenchmark(scope, benchmark, weights)
  await notifyCallbacks(scope, evaluated)
  return evaluated
}

/** An evaluation that callbacks do not know of yet. */
export async function evaluateBenchmark(
  scope: RunScope,
  benchmark: SealedBenchmark,
  weights: Weights,
  step?: number,
): Promise<BenchmarkEval> {
  const { reporter } = scope
  const { name, split } = benchmark
  await reporter.report({ type: 'eval.started', benchmark: name, split, step })
  const { scored: found, predictions } =
    benchmark.in_folders === true
      ? await attemptAnnounced(scope, benchmark, weights, step)
      : await answerAndScore(scope, benchmark, weights, step)
  const { predictions: blob, ...scored } = found
  await reporter.report({ type: 'eval.finished', benchmark: name, split, step, ...scored, predictions: blob })
  return { benchmark, scored, predictions, step, failure: wholeFailure(predictions) }
}

// Whether the attempts failed, and not their scoring: answers that are there can be scored again.
function wholeFailure(predictions: readonly Prediction[]): ErrorRecord | undefined {
  const errors = predictions.flatMap(({ error, agent_error }) => error ?? agent_error ?? [])
  return errors.length === predictions.length ? errors[0] : undefined
}

async function answerAndScore(scope: RunScope, benchmark: SealedBenchmark, weights: Weights, step: number | undefined) {
  const { assignment, services, model, renderer } = scope
  const agent = benchmark.one_completion === true ? undefined : (benchmark.agent ?? agentOf(assignment.config))
  const asked = {
    benchmark: scope.systemPrompt === undefined ? benchmark : prompted(benchmark, scope.systemPrompt),
    tasks: await readSealedTasks(benchmark.tasks_file),
  }
  const withAgent = agent && { agent, services }
  const { seed } = assignment.config
  const { signal } = services
  const answered = async (): Promise<Prediction[]> => {
    const all = asked.tasks.length * benchmark.num_samples
    const whose = agent === undefined ? (benchmark.inference?.kind ?? 'the model') : `agent "${agent.kind}"`
    let n = 0
    using waiting = announceWait((seconds) =>
      services.log('info', `${benchmark.name}: no answer of ${whose} for ${seconds} s (${n} of ${all} are there)`),
    )
    const onAnswer = () => {
      n += 1
      waiting.restart()
    }
    if (benchmark.inference !== undefined) {
      const client = await scope.others.client(benchmark.inference)
      return await answerWithClient({ ...asked, client, seed, signal, withAgent, onAnswer })
    }
    const question = { ...asked, model, weights, renderer, seed, step: step ?? ('final' as const), signal, withAgent }
    return await answerTasks({ ...question, onAnswer })
  }
  const predictions = await answered()
  using _waiting = announceWait((seconds) =>
    services.log('info', `${benchmark.name}: its verifiers and judges have been at the answers for ${seconds} s`),
  )
  return { scored: await scope.askScore({ benchmark: benchmark.name, step, predictions }), predictions }
}

async function attemptAnnounced(scope: RunScope, benchmark: SealedBenchmark, weights: Weights, step?: number) {
  using _waiting = announceWait((seconds) =>
    scope.services.log('info', `${benchmark.name}: its task folders have been attempted for ${seconds} s`),
  )
  return await attemptTasks(scope, benchmark, weights, step)
}

export async function notifyCallbacks(
  scope: RunScope,
  { benchmark, scored, predictions, step }: BenchmarkEval,
): Promise<void> {
  const { name, split } = benchmark
  const tasks = new Map((await readSealedTasks(benchmark.tasks_file)).map((task) => [task.task_id, task.instruction]))
  const answers = predictions.map((prediction) => {
    const { task_id, sample } = prediction
    const reward = scored.rewards[task_id]?.[sample] ?? null
    return { ...prediction, instruction: tasks.get(task_id), reward }
  })
  const of = callbackScope(scope.assignment)
  await scope.callbacks.call('onBenchmarkEval', of, name, split, scored.metrics, answers, step)
}

// The answers of a checkpoint to the tasks of a benchmark. It sees what is asked and never what is expected.
export async function readSealedTasks(file: string): Promise<SealedTask[]> {
  const text = await readFile(file, 'utf8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [SealedTask.parse(JSON.parse(line))]))
}

interface Question {
  readonly benchmark: SealedBenchmark
  readonly tasks: readonly SealedTask[]
  readonly model: OpenModel
  readonly weights: Weights
  readonly renderer: OpenRenderer
  readonly seed: number
  /** Part of the address of every draw, so that evaluations of a benchmark do not share draws. */
  readonly step: number | 'final'
  readonly signal: AbortSignal
  /** What runs the model through a task; absent: every task is asked once, all samples together. */
  readonly withAgent?: { readonly agent: PluginSpec; readonly services: AgentQuestion['services'] } | undefined
  readonly onAnswer?: (() => void) | undefined
}

/** One prediction per task and sample, in order. A failed sample is a prediction with its error; the others continue. */
export async function answerTasks(question: Question): Promise<Prediction[]> {
  const { benchmark, tasks, signal, withAgent, seed, step, onAnswer } = question
  if (withAgent !== undefined) {
    const policy = () => policyOf(question)
    return answerWithAgent({ ...withAgent, benchmark, tasks, seed, step, signal, policy, onAnswer })
  }
  const answers = await mapConcurrent(tasks, { limit: benchmark.n_concurrent, signal }, (task) =>
    answer(task, question),
  )
  return answers.flat()
}

// A policy for each attempt: it keeps the tokens of its own conversation.
function policyOf({ model, weights, renderer }: Question) {
  return createTokenPolicy({
    renderer,
    sample: (request) => model.sample({ ...request, model: weights }),
    version: () => 0, // nothing is trained on what is answered here
    maxContext: model.backend.maxContext,
  })
}

async function answer({ task_id, instruction }: SealedTask, question: Question): Promise<Prediction[]> {
  const { benchmark, model, weights, renderer, seed, step, signal } = question
  const samples = Array.from({ length: benchmark.num_samples }, (_, sample) => sample)
  try {
    const began = performance.now()
    const prompt = renderer.prompt(taskMessages(instruction, benchmark))
    const drawn = await model.sample({
      model: weights,
      prompt,
      numSamples: benchmark.num_samples,
      maxTokens: benchmark.max_tokens,
      temperature: benchmark.temperature,
      stop: renderer.stop,
      seed: keyedRandom(seed, 'eval', benchmark.name, step, task_id).uint32(),
    })
    const latency_s = (performance.now() - began) / 1000 // until all samples of the task are there
    return drawn.map(({ tokens, logprobs }, sample) => {
      question.onAnswer?.()
      const { message, complete } = renderer.parse(tokens)
      const output = typeof message.content === 'string' ? message.content : ''
      const took = { prompt_tokens: prompt.length, completion_tokens: tokens.length, latency_s }
      return { task_id, sample, output, complete, ...took, ...logprobFields({ logprobs }) }
    })
  } catch (error) {
    signal.throwIfAborted()
    const record = errorRecord(error)
    return samples.map((sample) => ({ task_id, sample, error: record }))
  }
}
