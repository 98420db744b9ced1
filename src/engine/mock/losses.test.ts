import { describe, expect, it } from 'vitest'
import { lossFunction, lossNames } from './losses.ts'

const token = (name: string, p: number, inputs: number[], config?: Record<string, number>) =>
  lossFunction({ name, ...(config === undefined ? {} : { config }) }).token(p, inputs)

describe('losses', () => {
  it.each([
    ['cross_entropy', -2, [1.5], { loss: 3, derivative: -1.5 }],
    ['cross_entropy', -2, [-1], { loss: -2, derivative: 1 }],
    ['importance_sampling', -1, [-1, 2], { loss: -2, derivative: -2 }],
    ['ppo', -1, [-1, 2], { loss: -2, derivative: -2 }],
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

  it('leaves out what has no weight or advantage, whatever else is infinite there (PLG-12)', () => {
    expect(token('cross_entropy', Number.NEGATIVE_INFINITY, [0])).toEqual({ loss: 0, derivative: 0 })
    for (const name of ['importance_sampling', 'ppo']) {
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
    expect(lossNames()).toEqual(['cross_entropy', 'importance_sampling', 'ppo'])
  })
})
