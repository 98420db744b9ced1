// One step of AdamW over a block, with an optional bound on the norm of the whole gradient. Factors are computed in float64.
import type { Adam } from '../../contracts/index.ts'
import { power } from '../optimizer/adam-state.ts'
import { Program } from './program.ts'
import type { Runtime } from './runtime.ts'

export type AdamStepOptions = {
  gradients: number
  length: number
  /** Number of this step, from 1. */
  step: number
  /** Called only when the step is taken. */
  places: () => { parameters: number; first: number; second: number }
}

/** Takes a step and returns the gradient's norm before clipping; undefined, and nothing is done, where that is not finite. */
export function adamStep(
  runtime: Runtime,
  { learningRate, beta1, beta2, eps, weightDecay = 0, gradClipNorm = 0 }: Adam,
  { gradients, length, step, places }: AdamStepOptions,
): number | undefined {
  const sum = runtime.alloc(8)
  runtime.run(new Program().add('sumSquares', { sum, x: gradients, n: length }))
  const norm = Math.sqrt(runtime.f64(sum, 1)[0] ?? Number.NaN)
  runtime.free(sum)
  if (!Number.isFinite(norm)) return undefined
  const { parameters, first, second } = places()
  runtime.run(
    new Program().add('adamw', {
      p: parameters,
      g: gradients,
      m: first,
      v: second,
      n: length,
      gradScale: gradClipNorm > 0 && norm > gradClipNorm ? gradClipNorm / norm : 1,
      beta1,
      rest1: 1 - beta1,
      beta2,
      rest2: 1 - beta2,
      rate: learningRate / (1 - power(beta1, step)),
      secondScale: 1 / Math.sqrt(1 - power(beta2, step)),
      eps,
      decay: learningRate * weightDecay,
    }),
  )
  return norm
}
