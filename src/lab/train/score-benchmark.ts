// One look at a benchmark: answers of some weights, scored elsewhere, told as events as soon as they are there.
import type { Prediction, Scored, SealedBenchmark, Weights } from '../../contracts/index.ts'
import { answerTasks, readSealedTasks } from './answer-tasks.ts'
import { attemptTasks } from './attempt-tasks.ts'
import { prompted } from './prompted.ts'
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
  const { reporter } = scope
  const { name, split } = benchmark
  const at = step === undefined ? {} : { step }
  await reporter.tell({ type: 'eval.started', benchmark: name, split, ...at })
  const { scored: found, predictions } =
    benchmark.in_folders === true
      ? await attemptTasks(scope, benchmark, weights, step)
      : await answerAndScore(scope, benchmark, weights, step)
  const { predictions: blob, ...scored } = found
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

async function answerAndScore(scope: RunScope, benchmark: SealedBenchmark, weights: Weights, step: number | undefined) {
  const { assignment, services, model, renderer } = scope
  const agent = benchmark.agent ?? agentOf(assignment.config)
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
  const at = step === undefined ? {} : { step }
  return { scored: await scope.askScore({ benchmark: benchmark.name, ...at, predictions }), predictions }
}

export async function tellCallbacks(scope: RunScope, { benchmark, scored, predictions, step }: Look): Promise<void> {
  const { name, split } = benchmark
  const answers = predictions.map((prediction) => ({ ...prediction }))
  const of = callbackScope(scope.assignment)
  await scope.callbacks.call('onBenchmarkEval', of, name, split, scored.metrics, answers, step)
}
