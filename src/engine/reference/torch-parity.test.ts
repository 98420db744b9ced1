import { describe, expect, it } from 'vitest'
import { relativeDistance, type TorchFixture, torchCases, torchFixture } from '../../../tests/torch-fixture.ts'
import type { Datum, LoraSpec, NamedLoss, Tensor } from '../../contracts/index.ts'
import { loadBaseModel } from '../files/base-model.ts'
import type { Parameters } from '../optimizer/adam-state.ts'
import { forwardBackward } from './reference-engine.ts'
import { project, ReferenceModel } from './reference-model.ts'
import { forward } from './transformer.ts'

const signal = new AbortController().signal
const breathe = async () => {}
const lora: LoraSpec = { rank: 2, seed: 0, trainAttention: true, trainMlp: true, trainUnembedding: true }

async function modelOf({ folder, below }: TorchFixture, spec?: LoraSpec): Promise<ReferenceModel> {
  const model = new ReferenceModel(
    { baseModel: 'm', lora: spec },
    await loadBaseModel(folder, { maxParameters: 1e6, signal }),
  )
  if (spec !== undefined) {
    const adapter = below('adapter.')
    expect([...adapter.keys()].sort()).toEqual(Object.keys(model.parameters).sort())
    for (const [name, values] of adapter) model.writable()[name]?.set(values)
  }
  return model
}

async function logitsOf(model: ReferenceModel, fixture: TorchFixture): Promise<Float64Array> {
  const { normed } = await forward(model, fixture.values('tokens'), { breathe })
  return project(model, 'lm_head', normed, fixture.values('tokens').length)
}

function datumOf(fixture: TorchFixture, inputs: Readonly<Record<string, string>>): Datum {
  const tensor = (name: string): Tensor => {
    const { shape } = fixture.tensors.get(name) ?? expect.fail(name)
    return { data: fixture.values(name), shape }
  }
  return {
    tokens: Int32Array.from(fixture.values('tokens')),
    lossInputs: Object.fromEntries(Object.entries(inputs).map(([name, source]) => [name, tensor(source)])),
  }
}

async function gradientsOf(model: ReferenceModel, datum: Datum, loss: NamedLoss) {
  const gradients = model.zeroGradients()
  const { metrics } = await forwardBackward(model, { data: [datum], loss }, { gradients, breathe })
  return { gradients, loss: metrics['loss:sum'] ?? Number.NaN }
}

function expectClose(gradients: Parameters, expected: ReadonlyMap<string, Float64Array>): void {
  const distances = Object.fromEntries(
    [...expected].map(([name, values]) => [name, relativeDistance(gradients[name] ?? [], values)]),
  )
  const far = Object.entries(distances).filter(([, distance]) => !(distance < 1e-5))
  expect(far).toEqual([])
}

const ce = { target_tokens: 'target_tokens', weights: 'weights' }
const policy = { target_tokens: 'target_tokens', logprobs: 'logprobs', advantages: 'advantages' }

describe.each(torchCases)('%s', (name) => {
  const fixture = torchFixture(name)

  it('has the logits of transformers, without and with an adapter (ENG-3)', async () => {
    for (const [tensor, spec] of [
      ['logits', undefined],
      ['adapter_logits', lora],
    ] as const) {
      const logits = await logitsOf(await modelOf(fixture, spec), fixture)
      const expected = fixture.values(tensor)
      expect(logits).toHaveLength(expected.length)
      const worst = logits.reduce((most, value, i) => Math.max(most, Math.abs(value - (expected[i] ?? 0))), 0)
      expect(worst).toBeLessThan(1e-5)
    }
  })

  it('has the gradient of float64 PyTorch for every tensor when all are trained (ENG-3)', async () => {
    const model = await modelOf(fixture)
    const { gradients, loss } = await gradientsOf(model, datumOf(fixture, ce), { name: 'cross_entropy' })
    const expected = new Map(fixture.below('grad.'))
    expect(loss).toBeCloseTo(expected.get('loss')?.[0] ?? 0, 4)
    expected.delete('loss')
    expect([...expected.keys()].sort()).toEqual([...model.trained.keys()].sort())
    expectClose(gradients, expected)
  })

  it('has the gradient of float64 PyTorch for every tensor of an adapter whose B is not zero (ENG-3, ENG-5)', async () => {
    const model = await modelOf(fixture, lora)
    const { gradients } = await gradientsOf(model, datumOf(fixture, ce), { name: 'cross_entropy' })
    const expected = new Map(fixture.below('adapter_grad.'))
    expected.delete('loss')
    expect([...expected.keys()].sort()).toEqual([...model.trained.keys()].sort())
    expectClose(gradients, expected)
  })
})

describe('every loss (conformance 35)', () => {
  const fixture = torchFixture('qwen3-default')
  it.each<[string, NamedLoss, Readonly<Record<string, string>>]>([
    ['cross_entropy', { name: 'cross_entropy' }, ce],
    ['cross_entropy_many', { name: 'cross_entropy' }, { target_tokens: 'many_targets', weights: 'many_weights' }],
    ['importance_sampling', { name: 'importance_sampling' }, policy],
    ['ppo', { name: 'ppo' }, policy],
    ['cispo', { name: 'cispo', config: { clip_high_threshold: 1.3 } }, policy],
    ['dro', { name: 'dro', config: { beta: 0.05 } }, policy],
  ])('%s has the value and gradient of float64 PyTorch (ENG-3, ENG-4)', async (name, loss, inputs) => {
    const model = await modelOf(fixture, lora)
    const { gradients, loss: value } = await gradientsOf(model, datumOf(fixture, inputs), loss)
    expect(value).toBeCloseTo(fixture.values(`loss.${name}`)[0] ?? Number.NaN, 5)
    const all = Object.keys(gradients)
      .sort()
      .flatMap((each) => [...(gradients[each] ?? [])])
    expect(relativeDistance(all, fixture.values(`adapter_grads.${name}`))).toBeLessThan(1e-5)
  })
})
