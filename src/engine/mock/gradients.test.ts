import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import type { Datum, NamedLoss } from '../../contracts/index.ts'
import { lossNames } from '../losses/losses.ts'
import { BigramModel } from './bigram-model.ts'
import { forwardBackward } from './mock-engine.ts'

const signal = new AbortController().signal
const vocabSize = 6

const floats = (values: readonly number[], shape = [values.length]) => ({ data: Float64Array.from(values), shape })
const ints = (values: readonly number[], shape = [values.length]) => ({ data: Int32Array.from(values), shape })

const token = fc.nat(vocabSize - 1)
const real = fc.double({ min: -2, max: 2, noNaN: true })
const position = fc.record({
  token,
  target: token,
  other: token,
  weight: real,
  extra: real,
  advantage: real,
  shift: real,
})
const positions = fc.array(position, { minLength: 1, maxLength: 6 })

/** Data of each loss from the same positions; `q` lies around the log-probability of an untrained model. */
const dataOf: Record<string, (each: readonly (typeof position extends fc.Arbitrary<infer P> ? P : never)[]) => Datum> =
  {
    cross_entropy: (each) => ({
      tokens: Int32Array.from(each, (p) => p.token),
      lossInputs: { target_tokens: ints(each.map((p) => p.target)), weights: floats(each.map((p) => p.weight)) },
    }),
    'cross_entropy of many targets': (each) => ({
      tokens: Int32Array.from(each, (p) => p.token),
      lossInputs: {
        target_tokens: ints(
          each.flatMap((p) => [p.target, p.other]),
          [each.length, 2],
        ),
        weights: floats(
          each.flatMap((p) => [p.weight, p.extra]),
          [each.length, 2],
        ),
      },
    }),
    importance_sampling: policyData,
    ppo: policyData,
    cispo: policyData,
    dro: policyData,
  }

function policyData(each: readonly { token: number; target: number; advantage: number; shift: number }[]): Datum {
  return {
    tokens: Int32Array.from(each, (p) => p.token),
    lossInputs: {
      target_tokens: ints(each.map((p) => p.target)),
      logprobs: floats(each.map((p) => -Math.log(vocabSize) + p.shift)),
      advantages: floats(each.map((p) => p.advantage)),
    },
  }
}

function modelOf(rank: number | undefined): BigramModel {
  const model = new BigramModel({ baseModel: 'm', vocabSize, rank }, 1)
  // Away from zero, where the adapter's gradient by A would vanish.
  model.parameters.lora_b?.forEach((_, i, all) => {
    all[i] = 0.01 * Math.sin(i + 1)
  })
  model.changed()
  return model
}

async function lossOf(model: BigramModel, data: readonly Datum[], loss: NamedLoss): Promise<number> {
  const { metrics } = await forwardBackward(model, { op: 'forward', model: 'm', data, loss }, signal)
  return metrics['loss:sum'] ?? Number.NaN
}

describe('gradients', () => {
  it('are tested for every loss (PLG-12)', () => {
    const tested = new Set(Object.keys(dataOf).map((name) => name.split(' ')[0]))
    expect([...tested].sort()).toEqual(lossNames().sort())
  })

  describe.each(Object.entries(dataOf))('of %s', (name, make) => {
    // No gradient flows through CISPO's clipped ratio: with both bounds equal it is a constant, and the loss a plain function.
    const pinned = { config: { clip_low_threshold: 1.3, clip_high_threshold: 1.3 } }
    const loss = { name: name.split(' ')[0] ?? name, ...(name === 'cispo' ? pinned : {}) }

    it.each([
      ['all weights', undefined],
      ['an adapter', 2],
    ])('by %s equal finite differences (PLG-12)', async (_what, rank) => {
      await fc.assert(
        fc.asyncProperty(fc.array(positions, { minLength: 1, maxLength: 3 }), async (each) => {
          // A ratio at the very edge of the clipping range has no derivative.
          const smooth = each.map((some) =>
            some.filter(({ shift }) => [0.8, 1.2].every((edge) => Math.abs(shift + Math.log(edge)) > 0.05)),
          )
          const data = smooth.filter((some) => some.length > 0).map(make)
          if (data.length === 0) return
          const model = modelOf(rank)
          await forwardBackward(model, { op: 'forward_backward', model: 'm', data, loss }, signal)
          const gradients = model.gradients()
          for (const [parameter, values] of Object.entries(model.parameters)) {
            for (let i = 0; i < values.length; i++) {
              const step = 1e-5
              const value = values[i] ?? 0
              const at = async (moved: number) => {
                values[i] = moved
                model.changed()
                return lossOf(model, data, loss)
              }
              const numeric = ((await at(value + step)) - (await at(value - step))) / (2 * step)
              values[i] = value
              expect(Math.abs((gradients[parameter]?.[i] ?? Number.NaN) - numeric)).toBeLessThan(
                1e-6 * Math.max(1, Math.abs(numeric)),
              )
            }
          }
        }),
        { numRuns: scaled(8) },
      )
    })

    it('come from a sum: over data, over tokens, never a mean (PLG-12)', async () => {
      await fc.assert(
        fc.asyncProperty(positions, positions, async (one, two) => {
          const [a, b] = [make(one), make(two)]
          const model = modelOf(undefined)
          const sum = (await lossOf(model, [a], loss)) + (await lossOf(model, [b], loss))
          expect(await lossOf(model, [a, b], loss)).toBeCloseTo(sum, 9)
          expect(await lossOf(model, [make([...one, ...two])], loss)).toBeCloseTo(sum, 9)
        }),
        { numRuns: scaled(20) },
      )
    })

    it('do not come from a plain forward pass (PLG-12)', async () => {
      const model = modelOf(undefined)
      const data = [make([{ token: 1, target: 2, other: 3, weight: 1, extra: 1, advantage: 1, shift: 0 }])]
      await forwardBackward(model, { op: 'forward', model: 'm', data, loss }, signal)
      expect(Object.values(model.gradients()).every((values) => values.every((value) => value === 0))).toBe(true)
    })
  })
})
