// The answers of a checkpoint to the tasks of a benchmark. It sees what is asked and never what is expected.
import { readFile } from 'node:fs/promises'
import {
  type OpenRenderer,
  type PluginSpec,
  type Prediction,
  type SealedBenchmark,
  SealedTask,
  type Weights,
} from '../../contracts/index.ts'
import { type AgentQuestion, answerWithAgent, taskMessages } from '../../evaluate/index.ts'
import { EvsysError, keyedRandom, mapConcurrent, problemsOf, toRecord } from '../../kernel/index.ts'
import { createTokenPolicy } from '../../rollout/index.ts'
import type { OpenModel } from './open-model.ts'

export async function readSealedTasks(file: string): Promise<SealedTask[]> {
  const text = await readFile(file, 'utf8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [SealedTask.parse(JSON.parse(line))]))
}

export interface Question {
  readonly benchmark: SealedBenchmark
  readonly tasks: readonly SealedTask[]
  readonly model: OpenModel
  readonly weights: Weights
  readonly renderer: OpenRenderer
  readonly seed: number
  /** Part of the address of every draw, so that each look at a benchmark is its own. */
  readonly step: number | 'final'
  readonly signal: AbortSignal
  /** Who leads the model through a task; absent: every task is asked once, all samples together. */
  readonly led?: { readonly agent: PluginSpec; readonly services: AgentQuestion['services'] } | undefined
}

/** One prediction per task and sample, in order. A failed sample is a prediction with its error; the others go on. */
export async function answerTasks(question: Question): Promise<Prediction[]> {
  const { benchmark, tasks, signal, led, seed, step } = question
  if (led !== undefined) {
    const policy = () => policyOf(question)
    return answerWithAgent({ ...led, benchmark, tasks, seed, step, signal, policy })
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
    return drawn.map(({ tokens }, sample) => {
      const { message, complete } = renderer.parse(tokens)
      const output = typeof message.content === 'string' ? message.content : ''
      return { task_id, sample, output, complete, prompt_tokens: prompt.length, completion_tokens: tokens.length }
    })
  } catch (error) {
    signal.throwIfAborted()
    const [problem] = problemsOf(error)
    const record = problem === undefined ? new EvsysError('INTERNAL', 'unknown failure').toRecord() : toRecord(problem)
    return samples.map((sample) => ({ task_id, sample, error: record }))
  }
}
