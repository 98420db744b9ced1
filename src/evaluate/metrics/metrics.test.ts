import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import type { Metric, TaskRewards, Usage } from '../../contracts/index.ts'
import {
  avg,
  costPerTask,
  meanReward,
  passAtK,
  passHatK,
  passRate,
  timePerTask,
  tokensPerTask,
} from './reward-metrics.ts'

const compute = (metric: Metric, rewards: TaskRewards, params: object = {}, usage: Usage[][] = []) =>
  metric.compute(rewards, { params: metric.params.parse(params), usage }) as number | undefined

const tasks = fc.array(fc.array(fc.constantFrom(-1, 0, 0.5, 1, 2), { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 5,
})
const evenTasks = fc
  .integer({ min: 1, max: 6 })
  .chain((n) =>
    fc.array(fc.array(fc.constantFrom(0, 0.99, 1), { minLength: n, maxLength: n }), { minLength: 1, maxLength: 4 }),
  )

describe('metrics of rewards', () => {
  it.each([
    [meanReward, [[1, 0], [0.5]], 0.375],
    [avg, [[1, 0], [0.5]], 0.375],
    [
      passRate,
      [
        [1, 0.99],
        [1, 2],
      ],
      0.75,
    ],
    [passRate, [[1, 1], [1]], 0.75],
    [meanReward, [[1], []], 0.5],
    [passRate, [[1], []], 0.5],
  ])('follow their formula, a missing sample counting as 0: %# (PLG-7)', (metric, rewards, value) => {
    expect(compute(metric, rewards)).toBe(value)
  })

  it('are undefined without tasks (PLG-7)', () => {
    for (const metric of [meanReward, avg, passRate]) expect(compute(metric, [])).toBeUndefined()
    for (const metric of [passAtK, passHatK]) expect(compute(metric, [], { k: 2 })).toBeUndefined()
  })

  it('keep a task in the denominator whose samples all failed (PLG-7)', () => {
    fc.assert(
      fc.property(tasks, (rewards) => {
        const passing = rewards.map((task) => task.map((reward) => Math.max(0, reward)))
        for (const [metric, params] of [
          [meanReward, {}],
          [passRate, {}],
          [passAtK, { k: 1 }],
          [passHatK, { k: 2 }],
        ] as const) {
          const before = compute(metric, passing, params) ?? 0
          const after = compute(metric, [...passing, []], params) ?? 0
          expect(after).toBeCloseTo((before * passing.length) / (passing.length + 1), 12)
        }
      }),
    )
  })

  it('refuse a reward that is no number (PLG-7)', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => compute(meanReward, [[0], [1, bad]])).toThrow(`the reward of task 1, sample 1 is ${bad}`)
    }
  })
})

describe('pass@k and pass^k', () => {
  it('equal the share of all sets of k samples, counted one by one (PLG-7)', () => {
    fc.assert(
      fc.property(evenTasks, (rewards) => {
        const n = rewards[0]?.length ?? 0
        for (let k = 1; k <= n; k++) {
          const shares = (holds: (picked: number[]) => boolean) =>
            rewards.map((task) => {
              const sets = subsets(task, k)
              return sets.filter(holds).length / sets.length
            })
          expect(compute(passAtK, rewards, { k })).toBeCloseTo(mean(shares((set) => set.some((r) => r >= 1))), 12)
          expect(compute(passHatK, rewards, { k })).toBeCloseTo(mean(shares((set) => set.every((r) => r >= 1))), 12)
        }
      }),
    )
  })

  it('never fall and never rise as k grows, also for many samples (PLG-7)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, share) => {
        const task = Array.from({ length: n }, (_, i) => (i < share * n ? 1 : 0))
        let [any, all] = [0, 1]
        for (let k = 1; k <= n; k++) {
          const [nextAny, nextAll] = [compute(passAtK, [task], { k }) ?? -1, compute(passHatK, [task], { k }) ?? 2]
          expect(nextAny).toBeGreaterThanOrEqual(any)
          expect(nextAll).toBeLessThanOrEqual(all)
          ;[any, all] = [nextAny, nextAll]
        }
        expect([any, all]).toEqual([share * n > 0 ? 1 : 0, task.every((r) => r === 1) ? 1 : 0])
      }),
      { numRuns: scaled(30) },
    )
  })

  it('are both the pass rate for k = 1 (PLG-7)', () => {
    fc.assert(
      fc.property(evenTasks, (rewards) => {
        expect(compute(passAtK, rewards, { k: 1 })).toBeCloseTo(compute(passRate, rewards) ?? -1, 12)
        expect(compute(passHatK, rewards, { k: 1 })).toBeCloseTo(compute(passRate, rewards) ?? -1, 12)
      }),
    )
  })

  it('ask for k samples, and count those that are missing as failures (PLG-7)', () => {
    expect([passAtK.minSamples?.({ k: 7 }), passHatK.minSamples?.({ k: 7 })]).toEqual([7, 7])
    expect(compute(passAtK, [[1]], { k: 3 })).toBe(1)
    expect(compute(passHatK, [[1]], { k: 3 })).toBe(0)
  })

  it('take whole numbers of at least 1 (PLG-7)', () => {
    for (const k of [0, -1, 1.5, '3']) expect(passAtK.params.safeParse({ k }).success).toBe(false)
  })
})

describe('metrics of usage', () => {
  const usage = (promptTokens: number, completionTokens: number, latencyS: number, costUsd?: number): Usage => ({
    promptTokens,
    completionTokens,
    latencyS,
    ...(costUsd === undefined ? {} : { costUsd }),
  })

  it('average over tasks, then samples, and are better when smaller (PLG-7)', () => {
    const all = [[usage(10, 5, 1, 0.2), usage(10, 15, 3, 0.4)], [usage(0, 10, 4, 0.1)]]
    expect(compute(timePerTask, [], {}, all)).toBe(3)
    expect(compute(tokensPerTask, [], {}, all)).toBe(15)
    expect(compute(costPerTask, [], {}, all)).toBeCloseTo(0.2, 12)
    expect([timePerTask, tokensPerTask, costPerTask].map(({ direction }) => direction)).toEqual(['min', 'min', 'min'])
  })

  it('are undefined where nothing was reported, never zero (PLG-7)', () => {
    for (const metric of [timePerTask, tokensPerTask, costPerTask]) {
      expect(compute(metric, [[1]], {}, [])).toBeUndefined()
      expect(compute(metric, [[1]], {}, [[]])).toBeUndefined()
    }
    expect(compute(costPerTask, [[1]], {}, [[usage(1, 1, 1)]])).toBeUndefined()
    expect(compute(costPerTask, [[1]], {}, [[usage(1, 1, 1, 0)]])).toBe(0)
  })
})

function subsets<T>(items: readonly T[], k: number): T[][] {
  const [first, ...rest] = items
  if (k === 0) return [[]]
  if (first === undefined || items.length < k) return []
  return [...subsets(rest, k - 1).map((set) => [first, ...set]), ...subsets(rest, k)]
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
