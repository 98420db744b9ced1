import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AdvantageKind, advantagesOf } from './advantages.ts'

const reward = fc.double({ min: -10, max: 10, noNaN: true })
const group = fc.array(reward, { minLength: 1, maxLength: 16 })
const compared = fc.constantFrom(...AdvantageKind.options.filter((kind) => kind !== 'none'))
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const differs = (rewards: readonly number[]) => Math.max(...rewards) - Math.min(...rewards) > 1e-3

describe('advantages', () => {
  it.each([
    ['mean', [1, 0, 0, 1], [0.5, -0.5, -0.5, 0.5]],
    ['mean', [3, 0, 0], [2, -1, -1]],
    ['mean_std', [1, 0, 0, 1], [1, -1, -1, 1]],
    ['leave_one_out', [3, 0, 0], [3, -1.5, -1.5]],
    ['none', [3, 0, 0], [3, 0, 0]],
  ] as const)('%s of %j are %j (RL-102)', (kind, rewards, advantages) => {
    expect(advantagesOf(rewards, kind)).toEqual(advantages)
  })

  it('sum to zero in every group (RL-102)', () => {
    fc.assert(
      fc.property(group, compared, (rewards, kind) => {
        expect(Math.abs(sum(advantagesOf(rewards, kind)))).toBeLessThan(1e-9 * rewards.length)
      }),
    )
  })

  it('are exactly 0 for equal rewards, whatever they are (RL-102)', () => {
    fc.assert(
      fc.property(reward, fc.integer({ min: 1, max: 16 }), compared, (value, size, kind) => {
        expect(advantagesOf(new Array(size).fill(value), kind)).toEqual(new Array(size).fill(0))
      }),
    )
    expect(advantagesOf([0.1 + 0.2, 0.3, 0.3], 'mean_std')).toEqual([0, 0, 0])
    expect(advantagesOf([0, Number.MIN_VALUE], 'mean_std')).toEqual([0, 0])
  })

  it('do not change when every reward is raised alike (RL-102)', () => {
    fc.assert(
      fc.property(group, reward, compared, (rewards, shift, kind) => {
        fc.pre(differs(rewards))
        const raised = advantagesOf(
          rewards.map((each) => each + shift),
          kind,
        )
        for (const [i, value] of advantagesOf(rewards, kind).entries()) expect(raised[i]).toBeCloseTo(value, 6)
      }),
    )
  })

  it('grow with the rewards, but for mean_std, which has none of their scale (RL-102)', () => {
    fc.assert(
      fc.property(group, fc.double({ min: 0.1, max: 10, noNaN: true }), compared, (rewards, scale, kind) => {
        fc.pre(differs(rewards))
        const scaled = advantagesOf(
          rewards.map((each) => each * scale),
          kind,
        )
        const factor = kind === 'mean_std' ? 1 : scale
        for (const [i, value] of advantagesOf(rewards, kind).entries()) expect(scaled[i]).toBeCloseTo(factor * value, 6)
      }),
    )
  })

  it('keep the order of the rewards, and do not depend on that of the group (RL-102)', () => {
    fc.assert(
      fc.property(group, fc.constantFrom(...AdvantageKind.options), (rewards, kind) => {
        const advantages = advantagesOf(rewards, kind)
        for (const [i, a] of rewards.entries()) {
          for (const [j, b] of rewards.entries()) {
            if (a > b) expect(advantages[i] ?? 0).toBeGreaterThanOrEqual(advantages[j] ?? 0)
          }
        }
        const turned = advantagesOf([...rewards].reverse(), kind).reverse()
        for (const [i, value] of advantages.entries()) expect(turned[i]).toBeCloseTo(value, 9)
      }),
    )
  })

  it('of mean_std have a deviation of 1 (RL-102)', () => {
    fc.assert(
      fc.property(group, (rewards) => {
        fc.pre(differs(rewards))
        const advantages = advantagesOf(rewards, 'mean_std')
        expect(sum(advantages.map((value) => value ** 2)) / rewards.length).toBeCloseTo(1, 9)
      }),
    )
  })
})
