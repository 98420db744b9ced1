// A stretch of training by one recipe. Most runs have one phase; a recipe of phases has several, one after the other.
import { learningRateAt, type SharedParams } from '../../algorithms/index.ts'
import type { Adam, RowFormat, RowOf, StepAlgorithm } from '../../contracts/index.ts'

export interface Phase {
  readonly algorithm: StepAlgorithm
  readonly params: unknown
  readonly shared: SharedParams
  readonly rows: readonly RowOf[RowFormat][]
  /** Of the run: where this phase begins. */
  readonly firstStep: number
  readonly numSteps: number
  /** Stands before its metrics and its random draws. Absent: the run has no other phase. */
  readonly label?: string
}

/** The phase that a step of the run belongs to. */
export function phaseAt(phases: readonly Phase[], step: number): Phase {
  const phase = phases.findLast(({ firstStep }) => firstStep <= step)
  if (phase === undefined) throw new RangeError(`no phase has step ${step}`)
  return phase
}

/** The optimiser's settings at a step of the run, after some roll-backs. */
export function adamAt(step: number, { shared, firstStep, numSteps }: Phase, trips: number): Adam {
  const rate = learningRateAt(step - firstStep, {
    schedule: shared.lr_schedule,
    learningRate: shared.learning_rate,
    numSteps,
    warmupSteps: shared.lr_warmup_steps,
    minRatio: shared.lr_min_ratio,
  })
  return {
    learningRate: rate * 0.5 ** trips,
    beta1: shared.adam_beta1,
    beta2: shared.adam_beta2,
    eps: shared.adam_eps,
    ...(shared.weight_decay === 0 ? {} : { weightDecay: shared.weight_decay }),
    ...(shared.grad_clip_norm === 0 ? {} : { gradClipNorm: shared.grad_clip_norm }),
  }
}
