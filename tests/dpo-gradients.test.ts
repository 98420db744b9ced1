// The gradient of dpo by finite differences: by log-probability, and by every weight of a small transformer on the reference engine.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dpoLoss } from '../src/algorithms/dpo.ts'
import type { Datum, Tensor } from '../src/contracts/index.ts'
import { loadBaseModel } from '../src/engine/files/base-model.ts'
import { forwardBackward } from '../src/engine/reference/reference-engine.ts'
import { ReferenceModel } from '../src/engine/reference/reference-model.ts'
import { keyedRandom } from '../src/kernel/index.ts'
import { temporaryFolders } from './temporary-folder.ts'
import { tinyVocab, writeTinyModel } from './tiny-model.ts'

const folder = temporaryFolders()
const tensor = (values: ArrayLike<number>): Tensor => ({ data: Float64Array.from(values), shape: [values.length] })
const datum = (weights: readonly number[]): Datum => ({
  tokens: new Int32Array(weights.length),
  lossInputs: { weights: tensor(weights) },
})

describe('the loss of dpo', () => {
  const answer = fc.array(
    fc.record({ logprob: fc.double({ min: -8, max: 0, noNaN: true }), weight: fc.constantFrom(0, 1) }),
    { minLength: 1, maxLength: 5 },
  )
  const options = fc.record({
    beta: fc.double({ min: 0.01, max: 2, noNaN: true }),
    labelSmoothing: fc.double({ min: 0, max: 0.49, noNaN: true }),
  })

  it('has the gradient that finite differences give (PLG-21)', () => {
    const reference = fc.record({
      chosen: fc.double({ min: -20, max: 0, noNaN: true }),
      rejected: fc.double({ min: -20, max: 0, noNaN: true }),
    })
    fc.assert(
      fc.property(answer, answer, reference, options, (chosen, rejected, against, how) => {
        const data = [chosen, rejected].map((each) => datum(each.map(({ weight }) => weight)))
        const start = [chosen, rejected].map((each) => each.map(({ logprob }) => logprob))
        const at = (values: readonly (readonly number[])[]) => dpoLoss(data, values.map(tensor), [against], how)
        const { gradients } = at(start)
        for (const [side, values] of start.entries()) {
          for (const t of values.keys()) {
            const moved = (by: number) =>
              start.map((each, i) => each.map((v, j) => (i === side && j === t ? v + by : v)))
            const numeric = (at(moved(1e-5)).loss - at(moved(-1e-5)).loss) / 2e-5
            expect(gradients[side]?.data[t]).toBeCloseTo(numeric, 6)
          }
        }
      }),
    )
  })

  it('is log 2 for each pair where the policy is the reference, and stays finite at any margin (PLG-21)', () => {
    const data = [datum([1]), datum([1])]
    const same = dpoLoss(data, [tensor([-3]), tensor([-2])], [{ chosen: -3, rejected: -2 }], {
      beta: 0.1,
      labelSmoothing: 0,
    })
    expect(same.loss).toBeCloseTo(Math.LN2, 12)
    expect(same.metrics).toMatchObject({ 'dpo/accuracy': 0.5, 'dpo/margin': 0 })
    for (const chosen of [-1e6, 1e6]) {
      const far = dpoLoss(data, [tensor([chosen]), tensor([0])], [{ chosen: 0, rejected: 0 }], {
        beta: 1,
        labelSmoothing: 0.1,
      })
      expect(Number.isFinite(far.loss)).toBe(true)
      expect(far.gradients.every(({ data: values }) => values.every(Number.isFinite))).toBe(true)
    }
  })

  it('goes through a transformer as the difference of losses says (PLG-21)', async () => {
    const random = keyedRandom(7, 'dpo')
    const signal = new AbortController().signal
    const breathe = async () => {}
    const base = await loadBaseModel(writeTinyModel(folder(), 'llama'), { maxParameters: 1e6, signal })
    const lora = { rank: 2, seed: 3, trainAttention: true, trainMlp: true, trainUnembedding: true }
    const model = new ReferenceModel({ baseModel: 'llama', lora }, base)
    for (const [name, values] of Object.entries(model.writable())) {
      if (name.includes('lora_B')) for (const i of values.keys()) values[i] = 0.05 * random.normal()
    }
    const length = 6
    const token = () => random.int(tinyVocab)
    const data = Array.from(
      { length: 4 },
      (_, i): Datum => ({
        tokens: Int32Array.from({ length }, token),
        lossInputs: {
          target_tokens: { data: Float64Array.from({ length }, token), shape: [length] },
          weights: tensor(Array.from({ length }, (_, t) => (t > i ? 1 : 0))),
        },
      }),
    )
    const references = [
      { chosen: -14, rejected: -11 },
      { chosen: -9, rejected: -8 },
    ]
    const loss = { name: 'cross_entropy' }
    const now = async () => {
      const { outputs } = await forwardBackward(model, { data, loss }, { breathe })
      const logprobs = outputs.map((output) => output.logprobs ?? expect.fail('no logprobs'))
      return dpoLoss(data, logprobs, references, { beta: 0.3, labelSmoothing: 0.1 })
    }
    // Cross entropy is the sum of -w p: with w = -dL/dp its gradient is that of L.
    const weighted = (await now()).gradients.map(
      (gradient, i): Datum => ({
        tokens: data[i]?.tokens ?? new Int32Array(),
        lossInputs: { ...data[i]?.lossInputs, weights: tensor(gradient.data.map((value) => -value)) },
      }),
    )
    const gradients = model.zeroGradients()
    await forwardBackward(model, { data: weighted, loss }, { gradients, breathe })
    for (const [name, values] of Object.entries(model.writable())) {
      const direction = values.map(() => random.normal())
      const start = values.slice()
      const at = async (step: number) => {
        for (const i of values.keys()) values[i] = (start[i] ?? 0) + step * (direction[i] ?? 0)
        return (await now()).loss
      }
      const step = 1e-5
      const [near, far] = [(await at(step)) - (await at(-step)), (await at(2 * step)) - (await at(-2 * step))]
      const numeric = (8 * near - far) / (12 * step)
      values.set(start)
      const exact = direction.reduce((sum, value, i) => sum + value * (gradients[name]?.[i] ?? Number.NaN), 0)
      expect
        .soft(Math.abs(exact - numeric), `${name}: ${exact} and ${numeric}`)
        .toBeLessThan(1e-6 * Math.max(1, Math.abs(numeric)))
    }
  })
})
