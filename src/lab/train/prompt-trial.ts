// System prompts tried on validation. A trial is a step of the run: answered by the weights that the run has, scored in the scorer,
// judged like a checkpoint. Test benchmarks are out of reach until a prompt is chosen.
import type { PromptTrial, StepScope } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { prompted } from './prompted.ts'
import type { RunScope } from './run-scope.ts'
import { lookAt, tellCallbacks } from './score-benchmark.ts'
import type { StopRequest } from './stop-request.ts'
import { tellStep } from './tell-step.ts'

export interface PromptTrialOptions {
  at(step: number): StepScope
  /** Refuses a step that is out of order, or any when the run has to leave. */
  advance(step: number): void
  readonly stop: StopRequest
}

export function createPromptTrial(scope: RunScope, { at, advance, stop }: PromptTrialOptions): PromptTrial {
  const { assignment, book, callbacks } = scope
  return {
    async validate(step, systemPrompt) {
      const { objective, benchmarks } = assignment
      const benchmark = benchmarks.find(({ name, split }) => split === 'val' && name === objective?.benchmark)
      if (benchmark === undefined || objective === undefined) {
        throw new EvsysError(
          'CONFIG_OBJECTIVE',
          'prompts are chosen on validation, and no objective names a val benchmark',
          {
            fix: 'declare a benchmark with split: val, and metadata.objective: { metric: val.pass@1 }.',
          },
        )
      }
      advance(step)
      const look = await lookAt(scope, prompted(benchmark, systemPrompt), scope.reference, step)
      const { metrics } = look.scored
      const { name, split } = benchmark
      scope.evals = [...scope.evals, { benchmark: name, split, step, metrics }]
      await tellCallbacks(scope, look)
      await callbacks.call('onEval', at(step), name, split, metrics)
      const score = metrics[objective.metric] ?? Number.NaN
      await tellStep(scope, at(step), { 'prompt/score': score })
      return { score, metrics, isBest: book.judge(step, metrics), stop: stop.reason }
    },
    use(systemPrompt) {
      scope.systemPrompt = systemPrompt
    },
  }
}
