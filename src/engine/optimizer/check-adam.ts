import type { Adam } from '../../contracts/index.ts'
import { refused } from '../refused.ts'

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
