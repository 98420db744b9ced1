// The code that docs/guides/training-client.md shows; a test runs it and compares the page with this file.
import type { Datum } from '../src/contracts/index.ts'
import { concat, createTinkerClient, defineLoss, exp, mul, neg, square, sub, sum } from '../src/tinker/index.ts'

export async function trainOneStep(baseUrl: string, apiKey: string, data: readonly Datum[]) {
  await using client = await createTinkerClient({ preset: 'evsys', baseUrl, apiKey })
  const model = await client.createModel({ baseModel: 'evsys/tiny', rank: 16, seed: 7 })

  const pass = model.forwardBackward(data, { name: 'cross_entropy' })
  const step = model.optimStep({ learningRate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-8 })
  await step.submitted // the service has both, in this order
  const { metrics } = await pass
  await step

  const sampler = await client.sampler({ samplingSessionId: await model.snapshot() })
  const prompt = Int32Array.of(1, 2, 3)
  const [sample] = await sampler.sample({ prompt, numSamples: 1, maxTokens: 8, temperature: 1, seed: 7 })
  const path = await model.saveState('step-1', { ttlSeconds: 86_400 })
  return { loss: metrics['loss:sum'], sample, path }
}

export const focal = defineLoss(({ logprobs, input }) => {
  const losses = logprobs.map((p, index) => {
    const weights = input(index, 'weights') ?? 1
    return sum(mul(weights, mul(square(sub(1, exp(p))), neg(p))))
  })
  return { loss: sum(concat(losses)) }
})
