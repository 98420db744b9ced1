// AdamW (Loshchilov and Hutter 2019): bias-corrected moments, decay applied to the weights and not to the gradient.
import type { Adam } from '../../contracts/index.ts'
import { refused } from '../refused.ts'

/** Values that are trained, by name; or their gradients, or their moments. */
export type Parameters = Readonly<Record<string, Float64Array>>

/** Moments of every parameter, and how many steps they have seen. */
export class AdamState {
  step = 0
  readonly first: Parameters
  readonly second: Parameters

  constructor(parameters: Parameters) {
    this.first = zeros(parameters)
    this.second = zeros(parameters)
  }

  /** Moves the parameters against the gradient, in place. Returns the gradient's norm before clipping. */
  apply(parameters: Parameters, gradients: Parameters, adam: Adam): number {
    const norm = globalNorm(gradients)
    const { learningRate: rate, beta1, beta2, eps, weightDecay = 0, gradClipNorm = 0 } = adam
    const clip = gradClipNorm > 0 && norm > gradClipNorm ? gradClipNorm / norm : 1
    this.step++
    const correction1 = 1 - power(beta1, this.step)
    const correction2 = 1 - power(beta2, this.step)
    for (const [name, values] of Object.entries(parameters)) {
      const gradient = gradients[name] ?? new Float64Array(values.length)
      const first = this.first[name] ?? new Float64Array(values.length)
      const second = this.second[name] ?? new Float64Array(values.length)
      for (let i = 0; i < values.length; i++) {
        const g = clip * (gradient[i] ?? 0)
        const m = beta1 * (first[i] ?? 0) + (1 - beta1) * g
        const v = beta2 * (second[i] ?? 0) + (1 - beta2) * g * g
        first[i] = m
        second[i] = v
        const decayed = (values[i] ?? 0) * (1 - rate * weightDecay)
        values[i] = decayed - (rate * (m / correction1)) / (Math.sqrt(v / correction2) + eps)
      }
    }
    return norm
  }
}

/** Zeros for each parameter. */
export function zeros(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).map(([name, values]) => [name, new Float64Array(values.length)]))
}

function globalNorm(gradients: Parameters): number {
  let sum = 0
  for (const gradient of Object.values(gradients)) {
    for (let i = 0; i < gradient.length; i++) sum += (gradient[i] ?? 0) * (gradient[i] ?? 0)
  }
  return Math.sqrt(sum)
}

/** Repeated squaring with exactly rounded products; Math.pow may differ in its last bit between versions of Node. */
export function power(base: number, exponent: number): number {
  let result = 1
  for (let square = base, left = exponent; left > 0; square *= square, left = Math.floor(left / 2)) {
    if (left % 2 === 1) result *= square
  }
  return result
}

/** Refuses settings with which no step can be taken. */
export function checkAdam({ learningRate, beta1, beta2, eps, weightDecay = 0, gradClipNorm = 0 }: Adam): void {
  const isSound =
    [learningRate, weightDecay, gradClipNorm].every((value) => Number.isFinite(value) && value >= 0) &&
    [beta1, beta2].every((beta) => beta >= 0 && beta < 1) &&
    eps > 0
  if (!isSound) {
    throw refused(
      'the optimiser’s settings are out of range',
      'rates are finite and not negative, betas below 1, eps above 0.',
    )
  }
}
