// One look at a benchmark: answers of the current weights, scored elsewhere, told as an event.
import type { Scored, SealedBenchmark, Weights } from '../../contracts/index.ts'
import { answerTasks, readSealedTasks } from './answer-tasks.ts'
import { callbackScope, type RunScope } from './run-scope.ts'

/** Scores `weights` on a benchmark; without `step`, after training. */
export async function scoreBenchmark(
  scope: RunScope,
  benchmark: SealedBenchmark,
  weights: Weights,
  step?: number,
): Promise<Scored> {
  const { assignment, services, reporter, model, renderer } = scope
  const { name, split } = benchmark
  const at = step === undefined ? {} : { step }
  await reporter.tell({ type: 'eval.started', benchmark: name, split, ...at })
  const predictions = await answerTasks({
    benchmark,
    tasks: await readSealedTasks(benchmark.tasks_file),
    model,
    weights,
    renderer,
    seed: assignment.config.seed,
    step: step ?? 'final',
    signal: services.signal,
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
  const answers = predictions.map((prediction) => ({ ...prediction }))
  await scope.callbacks.call('onBenchmarkEval', callbackScope(assignment), name, split, scored.metrics, answers, step)
  return scored
}
