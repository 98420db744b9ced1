// One evaluation on a benchmark: weights that are named here, answered and scored elsewhere. What is found is in the record before it
// is known here, and callbacks are told.
import type { ErrorRecord, EvaluatedAnswer, Scored, SealedBenchmark, Weights } from '../../contracts/index.ts'
import { runAgentOrder } from './run-agent-order.ts'
import { callbackScope, type RunScope } from './run-scope.ts'

export interface BenchmarkEval {
  readonly benchmark: SealedBenchmark
  readonly scored: Scored
  /** Present where callbacks want them. */
  readonly answers?: readonly EvaluatedAnswer[] | undefined
  readonly step?: number | undefined
  /** The first error, where every attempt failed. */
  readonly failure?: ErrorRecord | undefined
}

interface EvaluationOf {
  /** Absent: after training. */
  readonly step?: number | undefined
  /** In place of that of the benchmark, and of what the run found; empty: none. */
  readonly systemPrompt?: string | undefined
}

/** Scores `weights` on a benchmark, after training. */
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
  { step, systemPrompt = scope.systemPrompt }: EvaluationOf = {},
): Promise<BenchmarkEval> {
  const { reporter, callbacks, services } = scope
  const { name } = benchmark
  const evaluation = scope.nextEvaluation()
  await reporter.mark({ phase: 'started', evaluation, benchmark: name, step })
  const { scored, failure, answers } = await scope.evaluate({
    evaluation,
    benchmark: name,
    step,
    weights,
    system_prompt: systemPrompt,
    with_answers: callbacks.has('onBenchmarkEval'),
    runAgent: (order, place, signal) => runAgentOrder(order, place, services, signal),
  })
  await reporter.mark({ phase: 'finished', evaluation, benchmark: name, step }, scored)
  return { benchmark, scored, answers, step, failure }
}

export async function notifyCallbacks(
  scope: RunScope,
  { benchmark, scored, answers = [], step }: BenchmarkEval,
): Promise<void> {
  const { name, split } = benchmark
  const rewarded = answers.map((answer) => {
    const reward = scored.rewards[answer.task_id]?.[answer.sample] ?? null
    return { ...answer, reward }
  })
  const of = callbackScope(scope.assignment)
  await scope.callbacks.call('onBenchmarkEval', of, name, split, scored.metrics, rewarded, step)
}
