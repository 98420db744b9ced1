// Direct preference optimisation (Rafailov et al. 2023) with label smoothing (conservative DPO, Mitchell 2023), as a loss on
// log-probabilities. For one pair, with p the policy, r the reference, sums over the tokens of an answer:
//   z = beta ((log p(chosen) - log r(chosen)) - (log p(rejected) - log r(rejected)))
//   L = -(1 - e) log sigmoid(z) - e log sigmoid(-z)
import type { Datum, Metrics, Tensor } from '../contracts/index.ts'

export interface DpoOptions {
  readonly beta: number
  /** Share of pairs whose labels are taken to be the wrong way round. */
  readonly labelSmoothing: number
}

/** Log-probabilities of the two answers under the reference. */
export interface ReferencePair {
  readonly chosen: number
  readonly rejected: number
}

/** `data` holds chosen and rejected in turn. The loss is a sum over pairs; its gradient is by log-probability. */
export function dpoLoss(
  data: readonly Datum[],
  logprobs: readonly Tensor[],
  references: readonly ReferencePair[],
  { beta, labelSmoothing }: DpoOptions,
): { loss: number; gradients: Tensor[]; metrics: Metrics } {
  const weightsOf = (i: number) => data[i]?.lossInputs.weights?.data ?? []
  const gradients: Tensor[] = []
  const pairs = references.map((reference, i) => {
    const chosen = beta * (weighted(logprobs[2 * i], weightsOf(2 * i)) - reference.chosen)
    const rejected = beta * (weighted(logprobs[2 * i + 1], weightsOf(2 * i + 1)) - reference.rejected)
    const z = chosen - rejected
    const slope = beta * (labelSmoothing * sigmoid(z) - (1 - labelSmoothing) * sigmoid(-z))
    gradients.push(scaled(weightsOf(2 * i), slope), scaled(weightsOf(2 * i + 1), -slope))
    const loss = (1 - labelSmoothing) * softplus(-z) + labelSmoothing * softplus(z)
    return { chosen, rejected, z, loss, isRight: z > 0 ? 1 : z === 0 ? 0.5 : 0 }
  })
  const mean = (of: (pair: (typeof pairs)[number]) => number) =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / Math.max(1, pairs.length)
  const loss = pairs.reduce((sum, pair) => sum + pair.loss, 0)
  return {
    loss,
    gradients,
    metrics: {
      'dpo/loss': mean((pair) => pair.loss),
      'dpo/accuracy': mean((pair) => pair.isRight),
      'dpo/margin': mean((pair) => pair.z),
      'dpo/chosen_reward': mean((pair) => pair.chosen),
      'dpo/rejected_reward': mean((pair) => pair.rejected),
    },
  }
}

function weighted(tensor: Tensor | undefined, weights: ArrayLike<number>): number {
  let sum = 0
  for (let t = 0; t < weights.length; t++) sum += (weights[t] ?? 0) * (tensor?.data[t] ?? 0)
  return sum
}

function scaled(weights: ArrayLike<number>, slope: number): Tensor {
  return { data: Float64Array.from(weights, (weight) => weight * slope), shape: [weights.length] }
}

// Neither overflows, whatever the margin.
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))
}

function sigmoid(x: number): number {
  const e = Math.exp(-Math.abs(x))
  return x >= 0 ? 1 / (1 + e) : e / (1 + e)
}
