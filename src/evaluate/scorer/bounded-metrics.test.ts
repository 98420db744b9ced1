import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meanReward } from '../metrics/mean-reward.ts'
import { passAtK } from '../metrics/pass-at-k.ts'
import { passHatK } from '../metrics/pass-hat-k.ts'
import { passRate } from '../metrics/pass-rate.ts'
import { boundedMetrics, type OpenRewards, type ReadyMetric } from './bounded-metrics.ts'

const ready = (name: string, compute: ReadyMetric['compute'], direction: 'max' | 'min' = 'max'): ReadyMetric => ({
  name,
  direction,
  compute,
})
const builtIn: readonly ReadyMetric[] = [
  ready('mean_reward', (rewards, usage) => meanReward.compute(rewards, { params: {}, usage })),
  ready('pass_rate', (rewards, usage) => passRate.compute(rewards, { params: {}, usage })),
  ready('pass@2', (rewards, usage) => passAtK.compute(rewards, { params: { k: 2 }, usage })),
  ready('pass^2', (rewards, usage) => passHatK.compute(rewards, { params: { k: 2 }, usage })),
]
const noUsage = (rewards: OpenRewards) => ({ usage: rewards.map((task) => task.map(() => usage)), answers: [] })
const usage = { promptTokens: Number.NaN, completionTokens: Number.NaN, latencyS: Number.NaN }

const reward = fc.double({ min: 0, max: 1, noNaN: true })
const table = (cell: fc.Arbitrary<number | null>) =>
  fc
    .integer({ min: 2, max: 4 })
    .chain((samples) =>
      fc.array(fc.array(cell, { minLength: samples, maxLength: samples }), { minLength: 1, maxLength: 6 }),
    )

describe('metrics over rewards of which some are missing', () => {
  it('are the metrics themselves, without bounds, when none is missing (LAB-14)', () => {
    fc.assert(
      fc.property(table(reward), (rewards) => {
        const { metrics, bounds } = boundedMetrics(builtIn, rewards, noUsage(rewards))
        expect(bounds).toEqual({})
        expect(metrics.mean_reward).toBe(meanReward.compute(rewards as number[][], { params: {}, usage: [] }))
      }),
    )
  })

  it('lie within their bounds whatever the missing rewards would have been, and count as the worse bound (LAB-14)', () => {
    fc.assert(
      fc.property(table(reward), fc.infiniteStream(fc.boolean()), (truth, lost) => {
        const open = truth.map((task) => task.map((each) => (lost.next().value === true ? null : each)))
        const actual = boundedMetrics(builtIn, truth, noUsage(truth)).metrics
        const { metrics, bounds } = boundedMetrics(builtIn, open, noUsage(open))
        for (const { name } of builtIn) {
          const [low, high] = bounds[name] ?? [metrics[name], metrics[name]]
          expect(actual[name]).toBeGreaterThanOrEqual((low ?? Number.NaN) - 1e-12)
          expect(actual[name]).toBeLessThanOrEqual((high ?? Number.NaN) + 1e-12)
          if (metrics[name] !== undefined) expect(metrics[name]).toBe(low)
        }
      }),
    )
  })

  it('never rise when a reward is lost: no failure of infrastructure lifts a score (LAB-14)', () => {
    fc.assert(
      fc.property(table(reward), fc.nat(), (rewards, at) => {
        const before = boundedMetrics(builtIn, rewards, noUsage(rewards)).metrics
        const lost = at % rewards.flat().length
        let i = 0
        const open = rewards.map((task) => task.map((each) => (i++ === lost ? null : each)))
        const after = boundedMetrics(builtIn, open, noUsage(open)).metrics
        for (const { name } of builtIn) {
          if (after[name] !== undefined) expect(after[name]).toBeLessThanOrEqual((before[name] ?? Number.NaN) + 1e-12)
        }
      }),
    )
  })

  it('count as the larger bound where less is better (LAB-14)', () => {
    const errorRate = ready(
      'error_rate',
      (rewards) => 1 - rewards.flat().reduce((a, b) => a + b, 0) / rewards.flat().length,
      'min',
    )
    const { metrics, bounds } = boundedMetrics([errorRate], [[1], [null]], noUsage([[1], [null]]))
    expect([metrics, bounds]).toEqual([{ error_rate: 0.5 }, { error_rate: [0, 0.5] }])
  })

  it('have bounds and no value where no reward is known (LAB-14)', () => {
    const { metrics, bounds } = boundedMetrics(builtIn, [[null, null]], noUsage([[null, null]]))
    expect(metrics).toEqual({})
    expect(bounds).toEqual({ mean_reward: [0, 1], pass_rate: [0, 1], 'pass@2': [0, 1], 'pass^2': [0, 1] })
  })

  it('are absent where they say so, and nobody sees what another did to the rewards (LAB-14)', () => {
    const vandal = ready('vandal', (rewards) => {
      for (const task of rewards) task.fill(9)
      return undefined
    })
    const { metrics } = boundedMetrics([vandal, ...builtIn], [[1], [0]], noUsage([[1], [0]]))
    expect(metrics).toMatchObject({ mean_reward: 0.5 })
    expect(metrics).not.toHaveProperty('vandal')
  })

  it.each([
    ['returns a promise', async () => 1, /returned no finite number/],
    ['returns NaN', () => Number.NaN, /returned no finite number/],
    ['returns text', () => '0.5', /returned no finite number/],
    [
      'throws',
      () => {
        throw new Error('division by zero tasks')
      },
      /metric "odd": division by zero tasks/,
    ],
  ])('are a typed error where a metric %s (LAB-14)', (_name, compute, message) => {
    const odd = ready('odd', compute)
    expect(() => boundedMetrics([odd], [[1]], noUsage([[1]]))).toThrow(
      expect.objectContaining({ code: 'PLUGIN_FAILED', message: expect.stringMatching(message) }),
    )
  })
})
