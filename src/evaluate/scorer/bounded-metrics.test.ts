import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import { latencyPercentile, majorityAtK, meanReward, passAtK, passHatK, passRate } from '../metrics/reward-metrics.ts'
import { boundedMetrics, metricIntervals, type PartialRewards, type ReadyMetric } from './bounded-metrics.ts'

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
const noUsage = (rewards: PartialRewards) => ({ usage: rewards.map((task) => task.map(() => usage)), answers: [] })
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
