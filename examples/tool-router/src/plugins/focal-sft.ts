// An algorithm that extends another: it takes the batch of `sft` and gives it another loss; every other hook is that of `sft`.
import { type Datum, extendAlgorithm, sft, type Tensor, z } from 'evsys/plugin'

export const focalSft = extendAlgorithm(sft, {
  kind: 'focal_sft',
  summary: 'sft with the focal loss: tokens that the model already predicts well count less.',
  params: sft.params.extend({
    gamma: z
      .number()
      .min(0)
      .default(2)
      .describe('How much less; 0 is plain sft.')
      .meta({ search: { from: 0, to: 5, area: 'algorithm' } }), // what `evsys research` may try
  }),
  async buildBatch(context) {
    const batch = await sft.buildBatch(context)
    const { gamma } = context.params
    return { ...batch, loss: { custom: (data, logprobs) => focalLoss(data, logprobs, gamma) } }
  },
})

/** Focal loss (Lin et al. 2017) and its gradient: L = sum of -w (1 - p)^gamma log p over the tokens, p = exp(logprob). */
export function focalLoss(data: readonly Datum[], logprobs: readonly Tensor[], gamma: number) {
  let loss = 0
  const gradients = data.map(({ lossInputs }, i) => {
    const weights = lossInputs.weights?.data ?? []
    const values = logprobs[i]?.data ?? []
    const gradient = new Float64Array(values.length)
    for (let t = 0; t < values.length; t++) {
      const weight = weights[t] ?? 0
      const logprob = values[t] ?? 0
      const p = Math.exp(logprob)
      const miss = Math.max(1 - p, 1e-12) // at p = 1 a gamma below 1 would divide by zero
      loss -= weight * miss ** gamma * logprob
      gradient[t] = weight * (gamma * miss ** (gamma - 1) * p * logprob - miss ** gamma)
    }
    return { data: gradient, shape: [values.length] }
  })
  return { loss, gradients, metrics: { 'loss:sum': loss } }
}

export default [focalSft]
