import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { jsonFixture } from '../../../tests/torch-fixture.ts'
import { AdamState } from './adam-state.ts'

const adam = { learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8 }
const of = (...values: number[]) => ({ w: Float64Array.from(values) })

describe('AdamState', () => {
  it('takes the steps of AdamW (PLG-12)', () => {
    // From w = 1, rate 0.1, decay 0.01, tolerance 1e-14. In Python, for t, g in enumerate([0.5, -1, 2], 1):
    //   w *= 1 - 0.1 * 0.01; m = 0.9 * m + 0.1 * g; v = 0.95 * v + 0.05 * g * g
    //   w -= 0.1 * (m / (1 - 0.9**t)) / ((v / (1 - 0.95**t)) ** 0.5 + 1e-8); print(repr(w))
    const parameters = of(1)
    const state = new AdamState(parameters)
    const expected = [0.8990000019999999, 0.9344383965895928, 0.8922753540469455]
    const seen = [0.5, -1, 2].map((gradient) => {
      state.apply(parameters, of(gradient), { ...adam, weightDecay: 0.01 })
      return parameters.w[0] ?? Number.NaN
    })
    for (const [i, value] of seen.entries()) expect(value).toBeCloseTo(expected[i] ?? Number.NaN, 14)
    expect(state.step).toBe(3)
  })

  const numbers = z.array(z.number())
  const fixture = z
    .object({
      start: numbers,
      gradients: z.array(numbers),
      runs: z.array(
        z.object({
          setting: z.object({
            learningRate: numbers,
            beta1: z.number(),
            beta2: z.number(),
            eps: z.number(),
            weightDecay: z.number(),
            gradClipNorm: z.number(),
          }),
          weights: z.array(numbers),
        }),
      ),
    })
    .parse(jsonFixture('adam'))

  it.each(fixture.runs)('takes the steps of torch.optim.AdamW with $setting (ENG-8, conformance 33)', (run) => {
    const parameters = of(...fixture.start)
    const state = new AdamState(parameters)
    for (const [i, gradient] of fixture.gradients.entries()) {
      const learningRate = run.setting.learningRate[i] ?? Number.NaN
      state.apply(parameters, of(...gradient), { ...run.setting, learningRate })
      for (const [j, value] of parameters.w.entries()) expect(value).toBeCloseTo(run.weights[i]?.[j] ?? Number.NaN, 12)
    }
  })

  it('moves by the learning rate in its first step, whatever the gradient’s size (PLG-12)', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), fc.boolean(), (size, isNegative) => {
        const parameters = of(0)
        new AdamState(parameters).apply(parameters, of(isNegative ? -size : size), adam)
        expect(parameters.w[0]).toBeCloseTo(isNegative ? 0.1 : -0.1, 5)
      }),
    )
  })

  it('clips by the norm over all parameters and reports the norm before (PLG-12)', () => {
    const run = (gradClipNorm: number | undefined, gradients: Record<string, Float64Array>) => {
      const parameters = { a: Float64Array.from([0]), b: Float64Array.from([0]) }
      const state = new AdamState(parameters)
      const norm = state.apply(parameters, gradients, {
        ...adam,
        ...(gradClipNorm === undefined ? {} : { gradClipNorm }),
      })
      return { norm, first: [state.first.a?.[0], state.first.b?.[0]].map((m) => (m ?? 0) / 0.1) }
    }
    const gradients = { a: Float64Array.from([3]), b: Float64Array.from([-4]) }
    expect(run(1, gradients)).toEqual({ norm: 5, first: [expect.closeTo(0.6, 12), expect.closeTo(-0.8, 12)] })
    for (const off of [undefined, 0, 5, 100])
      expect(run(off, gradients).first).toEqual([expect.closeTo(3, 12), expect.closeTo(-4, 12)])
  })

  it('only decays without a gradient (PLG-12)', () => {
    const parameters = of(2)
    new AdamState(parameters).apply(parameters, of(0), { ...adam, weightDecay: 0.5 })
    expect(parameters.w[0]).toBe(2 * (1 - 0.1 * 0.5))
  })
})
