import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { tinyConfigs, tinyVocab, writeTinyModel } from '../../../tests/tiny-model.ts'
import type { Datum, LoraSpec, NamedLoss, Tensor } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { loadBaseModel } from '../files/base-model.ts'
import { lossNames } from '../losses/losses.ts'
import { KvCache } from './attention.ts'
import { forwardBackward } from './reference-engine.ts'
import { ReferenceModel } from './reference-model.ts'
import { forward, logprobsAt } from './transformer.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal
const breathe = async () => {}
const families = Object.keys(tinyConfigs) as (keyof typeof tinyConfigs)[] // the keys of a constant
const lora: LoraSpec = { rank: 2, seed: 3, trainAttention: true, trainMlp: true, trainUnembedding: true }
const random = keyedRandom(5, 'gradients')

async function modelOf(family: keyof typeof tinyConfigs, spec?: LoraSpec): Promise<ReferenceModel> {
  const base = await loadBaseModel(writeTinyModel(folder(), family), { maxParameters: 1e6, signal })
  const model = new ReferenceModel({ baseModel: family, lora: spec }, base)
  // Away from zero, where the gradient by A would vanish.
  for (const [name, values] of Object.entries(model.writable())) {
    if (name.includes('lora_B'))
      values.forEach((_, i, all) => {
        all[i] = 0.05 * random.normal()
      })
  }
  return model
}

const length = 6
const numbers = (make: () => number, shape: readonly number[] = [length]): Tensor => ({
  data: Float64Array.from({ length: shape.reduce((product, axis) => product * axis, 1) }, make),
  shape,
})
const token = () => random.int(tinyVocab)
const tokens = Int32Array.from({ length }, token)

// Ratios far from the edges of every clipping range; around the log-probability of about 1 / 17.
const policyInputs = {
  target_tokens: numbers(token),
  logprobs: numbers(() => -3 + random.normal()),
  advantages: numbers(() => random.normal()),
}
const cases: [string, NamedLoss, Datum['lossInputs']][] = [
  [
    'cross_entropy',
    { name: 'cross_entropy' },
    { target_tokens: numbers(token), weights: numbers(() => random.normal()) },
  ],
  [
    'cross_entropy of many targets',
    { name: 'cross_entropy' },
    { target_tokens: numbers(token, [length, 3]), weights: numbers(() => random.normal(), [length, 3]) },
  ],
  ['importance_sampling', { name: 'importance_sampling' }, policyInputs],
  ['ppo', { name: 'ppo' }, policyInputs],
  // No gradient flows through the clipped ratio: with both bounds equal it is a constant, and the loss a plain function.
  ['cispo', { name: 'cispo', config: { clip_low_threshold: 1.3, clip_high_threshold: 1.3 } }, policyInputs],
  ['dro', { name: 'dro' }, policyInputs],
]

async function expectDifferences(model: ReferenceModel, loss: NamedLoss, lossInputs: Datum['lossInputs']) {
  const data = [{ tokens, lossInputs }]
  const lossOf = async () =>
    (await forwardBackward(model, { data, loss }, { breathe })).metrics['loss:sum'] ?? Number.NaN
  const gradients = model.zeroGradients()
  await forwardBackward(model, { data, loss }, { gradients, breathe })
  for (const [name, values] of Object.entries(model.writable())) {
    // Along a random direction every value of the tensor counts.
    const direction = values.map(() => random.normal())
    const start = values.slice()
    const at = async (step: number) => {
      for (let i = 0; i < values.length; i++) values[i] = (start[i] ?? 0) + step * (direction[i] ?? 0)
      return lossOf()
    }
    // Of fourth order: an adapter's scale makes the loss bend sharply.
    const step = 1e-5
    const [near, far] = [(await at(step)) - (await at(-step)), (await at(2 * step)) - (await at(-2 * step))]
    const numeric = (8 * near - far) / (12 * step)
    values.set(start)
    const exact = direction.reduce((sum, value, i) => sum + value * (gradients[name]?.[i] ?? Number.NaN), 0)
    expect
      .soft(Math.abs(exact - numeric), `${name}: ${exact} and ${numeric}`)
      .toBeLessThan(1e-6 * Math.max(1, Math.abs(numeric)))
  }
}

describe('gradients by finite differences, without torch', () => {
  it('cover every loss (ENG-6)', () => {
    expect([...new Set(cases.map(([, { name }]) => name))].sort()).toEqual(lossNames().sort())
  })

  it.each(families)('hold for every tensor of %s (ENG-6)', async (family) => {
    const [, loss, inputs] = cases[0] ?? expect.fail('no case')
    await expectDifferences(await modelOf(family), loss, inputs)
    await expectDifferences(await modelOf(family, lora), loss, inputs)
  })

  it.each(cases)('hold for %s (ENG-6, conformance 35)', async (_name, loss, inputs) => {
    await expectDifferences(await modelOf('qwen3', lora), loss, inputs)
  })

  it('do not flow through the clipped ratio of cispo: they are those of its weights (ENG-6, conformance 35)', async () => {
    const model = await modelOf('llama', lora)
    const [cispo, weighted] = [model.zeroGradients(), model.zeroGradients()]
    const { outputs } = await forwardBackward(
      model,
      { data: [{ tokens, lossInputs: policyInputs }], loss: { name: 'cispo' } },
      { gradients: cispo, breathe },
    )
    const weights = policyInputs.logprobs.data.map(
      (q, t) =>
        Math.min(4, Math.exp((outputs[0]?.logprobs?.data[t] ?? 0) - q)) * (policyInputs.advantages.data[t] ?? 0),
    )
    const lossInputs = { target_tokens: policyInputs.target_tokens, weights: { data: weights, shape: [length] } }
    await forwardBackward(
      model,
      { data: [{ tokens, lossInputs }], loss: { name: 'cross_entropy' } },
      { gradients: weighted, breathe },
    )
    for (const [name, values] of Object.entries(weighted)) {
      for (const [i, value] of values.entries()) expect(cispo[name]?.[i]).toBeCloseTo(value, 9)
    }
  })
})

describe('decoding with a cache', () => {
  it.each(families)('gives every bit of the full pass of %s (ENG-7)', async (family) => {
    const model = await modelOf(family, lora)
    const full = await forward(model, tokens, { breathe })
    for (const pieces of [
      [1, 1, 1, 1, 1, 1],
      [4, 2],
      [1, 5],
    ]) {
      const caches = Array.from({ length: model.shape.layers }, () => new KvCache())
      let start = 0
      for (const size of pieces) {
        const trace = await forward(model, tokens.subarray(start, start + size), { start, caches, breathe })
        for (let t = 0; t < size; t++) {
          expect(logprobsAt(model, trace, t)).toEqual(logprobsAt(model, full, start + t))
        }
        start += size
      }
    }
  })
})
