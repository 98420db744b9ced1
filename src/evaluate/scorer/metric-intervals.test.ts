import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import { latencyPercentile } from '../metrics/latency-percentile.ts'
import { majorityAtK } from '../metrics/majority-at-k.ts'
import { passAtK } from '../metrics/pass-at-k.ts'
import { boundedMetrics, type ReadyMetric } from './bounded-metrics.ts'
import { metricIntervals } from './metric-intervals.ts'

const pass1: ReadyMetric = {
  name: 'pass@1',
  direction: 'max',
  compute: (rewards, usage) => passAtK.compute(rewards, { params: { k: 1 }, usage }),
}
const majority = (k: number): ReadyMetric => ({
  name: `majority@${k}`,
  direction: 'max',
  compute: (rewards, usage, answers) => majorityAtK.compute(rewards, { params: { k }, usage, answers }),
})
const samples = (answers: (string | undefined)[][] = []) => ({ usage: [], answers })

describe('intervals of scores', () => {
  it('a share of right answers has the score interval, also where all are right (EVL-6)', () => {
    const all = Array.from({ length: 20 }, () => [1])
    expect(metricIntervals([pass1], all, samples())['pass@1']?.map((end) => Number(end.toFixed(4)))).toEqual([
      0.8808, 1,
    ])
  })

  it('holds the score; missing rewards only widen it (EVL-6)', () => {
    const reward = fc.option(fc.constantFrom(0, 0.5, 1), { nil: null, freq: 4 })
    fc.assert(
      fc.property(fc.array(fc.tuple(reward, reward), { minLength: 2, maxLength: 30 }), (rewards) => {
        const { metrics, bounds } = boundedMetrics([pass1], rewards, samples())
        const interval = metricIntervals([pass1], rewards, samples())['pass@1']
        if (interval === undefined) return
        const [low, high] = bounds['pass@1'] ?? [metrics['pass@1'] ?? 0, metrics['pass@1'] ?? 0]
        expect(interval[0]).toBeLessThanOrEqual(low + 1e-9)
        expect(interval[1]).toBeGreaterThanOrEqual(high - 1e-9)
      }),
      { numRuns: scaled(200) },
    )
  })

  it('a metric that is no mean over tasks is drawn again, the same each time (EVL-6)', () => {
    const best: ReadyMetric = {
      name: 'median',
      direction: 'max',
      compute: (rewards) => rewards.map(([first = 0]) => first).sort((a, b) => a - b)[Math.floor(rewards.length / 2)],
    }
    const rewards = Array.from({ length: 40 }, (_, i) => [i / 40])
    const interval = metricIntervals([best], rewards, samples()).median
    expect(interval?.[0]).toBeLessThan(0.5)
    expect(interval?.[1]).toBeGreaterThan(0.5)
    expect(metricIntervals([best], rewards, samples()).median).toEqual(interval)
  })

  it('one task, and values without spread, have none (EVL-6)', () => {
    expect(metricIntervals([pass1], [[1]], samples())).toEqual({})
    expect(
      metricIntervals(
        [pass1],
        [
          [1, 0],
          [1, 0],
        ],
        samples(),
      ),
    ).toEqual({})
  })
})

describe('majority@k', () => {
  const value = (k: number, rewards: (number | null)[][], answers: (string | undefined)[][]) =>
    boundedMetrics([majority(k)], rewards, samples(answers))

  it('takes the answer that most samples give; ties go to the earlier (EVL-6)', () => {
    expect(value(3, [[0, 1, 1]], [['a', 'b', 'b']]).metrics).toEqual({ 'majority@3': 1 })
    expect(value(3, [[1, 0, 0]], [['b', 'a', ' a ']]).metrics).toEqual({ 'majority@3': 0 })
    expect(value(2, [[1, 0]], [['b', 'a']]).metrics).toEqual({ 'majority@2': 1 })
    expect(value(3, [[1, 1, 0]], [['so \\boxed{2}', 'I get <answer>2</answer>', '3']]).metrics).toEqual({
      'majority@3': 1,
    })
  })

  it('of more samples than k, groups of k are averaged (EVL-6)', () => {
    expect(value(1, [[1, 0, 0, 1]], [['r', 'w', 'w', 'r']]).metrics).toEqual({ 'majority@1': 0.5 })
  })

  it('a lost sample could have decided either way (EVL-6)', () => {
    const lost = value(3, [[1, 0, null]], [['r', 'w', undefined]])
    expect(lost).toEqual({ metrics: { 'majority@3': 0 }, bounds: { 'majority@3': [0, 1] } })
    const decided = value(3, [[1, 1, null]], [['r', 'r', undefined]])
    expect(decided).toEqual({ metrics: { 'majority@3': 1 }, bounds: {} })
  })
})

describe('latency_p{q}', () => {
  it('is the time within which so many answers came; unknown is undefined (EVL-6)', () => {
    const usage = [Array.from({ length: 100 }, (_, i) => ({ promptTokens: 1, completionTokens: 1, latencyS: i + 1 }))]
    expect(latencyPercentile.compute([], { params: { q: 95 }, usage })).toBe(95)
    expect(
      latencyPercentile.compute([], {
        params: { q: 50 },
        usage: [[{ promptTokens: 1, completionTokens: 1, latencyS: Number.NaN }]],
      }),
    ).toBeUndefined()
  })
})
