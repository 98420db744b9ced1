import type { CheckedDatum } from './checked-data.ts'
import type { LossFunction } from './losses.ts'

/** Loss of each target of a datum, and its derivative by the target's log-probability. */
export type DatumLoss = { readonly losses: Float64Array; readonly derivatives: Float64Array }

/** The loss of a datum whose targets have these log-probabilities, in the order of `targets.data`. */
export function evaluateDatum({ inputs }: CheckedDatum, loss: LossFunction, logprobs: Float64Array): DatumLoss {
  const losses = new Float64Array(logprobs.length)
  const derivatives = new Float64Array(logprobs.length)
  for (let at = 0; at < logprobs.length; at++) {
    const token = loss.token(
      logprobs[at] ?? Number.NaN,
      inputs.map((input) => input?.data[at]),
    )
    losses[at] = token.loss
    derivatives[at] = token.derivative
  }
  return { losses, derivatives }
}
