// What follows the update of every step: it is told, callbacks see it, benchmarks that are due are scored.
import type { Metrics, StepScope } from '../../contracts/index.ts'
import type { RunScope } from './run-scope.ts'
import { scoreBenchmark } from './score-benchmark.ts'

/** Tells of a step and scores what is due. True: it is the best so far on validation. */
export async function finishStep(scope: RunScope, at: StepScope, metrics: Metrics): Promise<boolean> {
  await scope.reporter.tell({ type: 'step.finished', step: at.step, metrics: finite(metrics) })
  await scope.callbacks.call('onStepEnd', at, metrics)
  return await lookAtBenchmarks(scope, at)
}

/** A metric that is no number says nothing a chart could show; the guard has seen the loss already. */
export function finite(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)))
}

// All benchmarks of a step look at the same weights.
async function lookAtBenchmarks(scope: RunScope, at: StepScope): Promise<boolean> {
  const { assignment, book, callbacks } = scope
  const { step } = at
  const due = assignment.benchmarks.filter(({ run_every }) => run_every > 0 && (step + 1) % run_every === 0)
  if (due.length === 0) return false
  const weights = await scope.model.snapshot()
  let isBest = false
  for (const benchmark of due) {
    const scored = await scoreBenchmark(scope, benchmark, weights, step)
    const { name, split } = benchmark
    scope.evals = [...scope.evals, { benchmark: name, split, step, metrics: scored.metrics }]
    await callbacks.call('onEval', at, name, split, scored.metrics)
    const selects = benchmark.split === 'val' && benchmark.name === assignment.objective?.benchmark
    if (selects && book.judge(step, scored.metrics)) isBest = true
  }
  await scope.model.drop(weights)
  return isBest
}
