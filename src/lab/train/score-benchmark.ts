// One look at a benchmark: answers of some weights, scored elsewhere, told as events as soon as they are there.
import type { Prediction, Scored, SealedBenchmark, Weights } from '../../contracts/index.ts'
import { answerTasks, readSealedTasks } from './answer-tasks.ts'
import { agentOf } from './run-agent-spec.ts'
import { callbackScope, type RunScope } from './run-scope.ts'

export interface Look {
  readonly benchmark: SealedBenchmark
  readonly scored: Omit<Scored, 'predictions'>
  readonly predictions: readonly Prediction[]
  readonly step?: number | undefined
}

/** Scores `weights` on a benchmark; without `step`, after training. */
export async function scoreBenchmark(
  scope: RunScope,
  benchmark: SealedBenchmark,
  weights: Weights,
): Promise<Look['scored']> {
  const look = await lookAt(scope, benchmark, weights)
  await tellCallbacks(scope, look)
  return look.scored
}

/** A look that callbacks do not know of yet. */
export async function lookAt(
  scope: RunScope,
  benchmark: SealedBenchmark,
  weights: Weights,
  step?: number,
): Promise<Look> {
  const { assignment, services, reporter, model, renderer } = scope
  const { name, split } = benchmark
  const at = step === undefined ? {} : { step }
  const agent = benchmark.agent ?? agentOf(assignment.config)
  await reporter.tell({ type: 'eval.started', benchmark: name, split, ...at })
  const predictions = await answerTasks({
    benchmark: scope.systemPrompt === undefined ? benchmark : prompted(benchmark, scope.systemPrompt),
    tasks: await readSealedTasks(benchmark.tasks_file),
    model,
    weights,
    renderer,
    seed: assignment.config.seed,
    step: step ?? 'final',
    signal: services.signal,
    led: agent === undefined ? undefined : { agent, services },
  })
  const { predictions: blob, ...scored } = await scope.askScore({ benchmark: name, ...at, predictions })
  await reporter.tell({
    type: 'eval.finished',
    benchmark: name,
    split,
    ...at,
    ...scored,
    ...(blob === undefined ? {} : { predictions: blob }),
  })
  return { benchmark, scored, predictions, step }
}

export async function tellCallbacks(scope: RunScope, { benchmark, scored, predictions, step }: Look): Promise<void> {
  const { name, split } = benchmark
  const answers = predictions.map((prediction) => ({ ...prediction }))
  const of = callbackScope(scope.assignment)
  await scope.callbacks.call('onBenchmarkEval', of, name, split, scored.metrics, answers, step)
}

/** The benchmark with another system prompt; an empty one is none. */
export function prompted(benchmark: SealedBenchmark, systemPrompt: string): SealedBenchmark {
  const { system_prompt: _, ...template } = benchmark.chat_template
  return {
    ...benchmark,
    chat_template: systemPrompt === '' ? template : { ...template, system_prompt: systemPrompt },
  }
}
