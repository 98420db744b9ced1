import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lossFunction, lossNames } from './losses.ts'

const token = (name: string, p: number, inputs: (number | undefined)[], config?: Record<string, number>) =>
  lossFunction({ name, ...(config === undefined ? {} : { config }) }).token(p, inputs)

describe('losses', () => {
  it.each([
    ['cross_entropy', -2, [1.5], { loss: 3, derivative: -1.5 }],
    ['cross_entropy', -2, [-1], { loss: -2, derivative: 1 }],
    ['importance_sampling', -1, [-1, 2], { loss: -2, derivative: -2 }],
    ['ppo', -1, [-1, 2], { loss: -2, derivative: -2 }],
    ['cispo', -1, [-1, 2], { loss: 2, derivative: -2 }],
    ['dro', -1, [-3, 2], { loss: 2 + 0.5 * 0.05 * 4, derivative: -2 + 0.05 * 2 }],
  ])('%s of p = %d with %j (PLG-12)', (name, p, inputs, result) => {
    expect(token(name, p, inputs)).toEqual(result)
  })

  it.each([
    ['a gain beyond the upper bound', Math.log(2), 1, -1.2, 0],
    ['a gain below the lower bound', Math.log(0.5), 1, -0.5, -0.5],
    ['a harm beyond the upper bound', Math.log(2), -1, 2, 2],
    ['a harm below the lower bound', Math.log(0.5), -1, 0.8, 0],
  ])('ppo clips %s by the ratio itself (PLG-12)', (_name, p, advantage, loss, derivative) => {
    const result = token('ppo', p, [0, advantage])
    expect(result.loss).toBeCloseTo(loss, 12)
    expect(result.derivative).toBeCloseTo(derivative, 12)
  })

  it('ppo takes its bounds from the config (PLG-12)', () => {
    const config = { clip_low_threshold: 0.5, clip_high_threshold: 1.5 }
    expect(token('ppo', Math.log(2), [0, 1], config).loss).toBeCloseTo(-1.5, 12)
  })

  it('ppo inside its bounds is importance sampling (ENG-4, conformance 36)', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.81, max: 1.19, noNaN: true }),
        fc.double({ min: -9, max: 9, noNaN: true }),
        (r, a) => {
          const p = -1 + Math.log(r)
          expect(token('ppo', p, [-1, a])).toEqual(token('importance_sampling', p, [-1, a]))
        },
      ),
    )
  })

  it.each([
    ['far above', Math.log(9), 4],
    ['at rest', 0, 1],
    ['far below', Math.log(1e-3), 1e-3],
  ])(
    'cispo bounds a ratio %s from above only, and keeps it out of the gradient (ENG-4, conformance 36)',
    (_name, shift, r) => {
      for (const advantage of [2, -2]) {
        const result = token('cispo', -1, [-1 - shift, advantage])
        expect(result.derivative).toBeCloseTo(-r * advantage, 12)
        expect(result.loss).toBeCloseTo(r * advantage, 12)
      }
    },
  )

  it('takes the clipping bounds of each token from its inputs, and from the config where there are none (ENG-4)', () => {
    for (const name of ['ppo', 'cispo']) {
      expect(lossFunction({ name }).optionalInputs).toEqual(['clip_low_threshold', 'clip_high_threshold'])
    }
    const config = { clip_low_threshold: 0.1, clip_high_threshold: 3 }
    expect(token('ppo', Math.log(2), [0, 1, 0.5, 1.5], config).loss).toBeCloseTo(-1.5, 12)
    expect(token('ppo', Math.log(2), [0, 1, 0.5, undefined], config).loss).toBeCloseTo(-2, 12)
    expect(token('cispo', Math.log(0.2), [0, 1, 0.5, undefined], config).derivative).toBeCloseTo(-0.5, 12)
  })

  it('has the derivative that finite differences give (ENG-4, conformance 35)', () => {
    const real = fc.double({ min: -2, max: 2, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(...lossNames()), real, real, real, (name, p, q, a) => {
        // A ratio at the very edge of its bounds has no derivative; CISPO's is held fixed, as its gradient holds it.
        if ([0.8, 1.2, 4].some((edge) => Math.abs(p - q - Math.log(edge)) < 1e-3)) return
        const inputs = name === 'cross_entropy' ? [a] : [q, a]
        const ratio = Math.min(4, Math.exp(p - q))
        const at = (x: number) => (name === 'cispo' ? -ratio * x * a : token(name, x, inputs).loss)
        expect(token(name, p, inputs).derivative).toBeCloseTo((at(p + 1e-6) - at(p - 1e-6)) / 2e-6, 4)
      }),
    )
  })

  it('leaves out what has no weight or advantage, whatever else is infinite there (PLG-12)', () => {
    expect(token('cross_entropy', Number.NEGATIVE_INFINITY, [0])).toEqual({ loss: 0, derivative: 0 })
    for (const name of ['importance_sampling', 'ppo', 'cispo', 'dro']) {
      for (const q of [0, Number.NEGATIVE_INFINITY, Number.NaN])
        expect(token(name, -5, [q, 0])).toEqual({ loss: 0, derivative: 0 })
    }
  })

  it.each([
    ['a name', { name: 'cross_entrop' }, /no loss is called "cross_entrop"/],
    ['an inherited name', { name: 'constructor' }, /no loss is called "constructor"/],
    ['a setting', { name: 'ppo', config: { clip: 1 } }, /ppo has no setting "clip"/],
    ['a setting of another loss', { name: 'cross_entropy', config: { clip_low_threshold: 1 } }, /no setting/],
    ['a setting that is no number', { name: 'ppo', config: { clip_low_threshold: Number.NaN } }, /is NaN/],
  ])('refuse %s that they do not know (PLG-12)', (_name, loss, message) => {
    expect(() => lossFunction(loss)).toThrow(message)
  })

  it('are named (PLG-12)', () => {
    expect(lossNames()).toEqual(['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro'])
  })
})
