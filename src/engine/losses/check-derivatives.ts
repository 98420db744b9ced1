import { refused } from '../refused.ts'

/**
 * Refuses derivatives that are the request's fault: inputs that no number can answer. Where the model itself has none, training has
 * diverged: that the loss tells, and who trains decides what to do.
 */
export function checkDerivatives(derivatives: Float64Array, logprobs: Float64Array, what: string): void {
  const wrong = derivatives.findIndex((derivative, i) => !Number.isFinite(derivative) && Number.isFinite(logprobs[i]))
  if (wrong === -1) return
  throw refused(
    `${what}: the loss at target ${wrong} has the derivative ${derivatives[wrong]}`,
    'the given logprobs are too far from the model’s: check that they belong to these tokens.',
  )
}
