import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReadyMetric } from './bounded-metrics.ts'
import { taskScores } from './task-scores.ts'

const samplesOf = (rewards: readonly (readonly unknown[])[]) => ({
  usage: rewards.map((task) => task.map(() => ({ promptTokens: 0, completionTokens: 0, latencyS: 0 }))),
  answers: rewards.map((task) => task.map(() => undefined)),
})
const named = (rewards: readonly unknown[]) => rewards.map((_, i) => `t${i}`)
const scoresOf = (metric: ReadyMetric, rewards: readonly (readonly (number | null)[])[]) =>
  taskScores([metric], named(rewards), rewards, samplesOf(rewards))[metric.name]
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const mean: ReadyMetric = { name: 'mean', direction: 'max', compute: (rewards) => meanOf(rewards.flat()) }
/** A ratio of sums: no mean over tasks. */
const ratio: ReadyMetric = {
  name: 'ratio',
  direction: 'max',
  compute: (rewards) => meanOf(rewards.flat()) / (1 + Math.max(...rewards.flat())),
}

describe('what each task adds to a metric', () => {
  it('is its value where the metric is a mean over tasks (USE-4)', () => {
    expect(scoresOf(mean, [[0.2], [0.4], [1]])).toEqual({ t0: 0.2, t1: 0.4, t2: 1 })
  })

  it('is not its value where that averages to the score by coincidence (USE-113)', () => {
    const middle = ([...values]: number[]) => {
      const sorted = values.sort((a, b) => a - b)
      return (
        ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2
      )
    }
    const median: ReadyMetric = { name: 'median', direction: 'max', compute: (rewards) => middle(rewards.flat()) }
    const found = scoresOf(median, [[0], [1], [3], [4], [2]])
    expect(found).not.toEqual({ t0: 0, t1: 1, t2: 3, t3: 4, t4: 2 })
    expect(meanOf(Object.values(found ?? {}).map(Number))).toBeCloseTo(2, 12)
  })

  it('averages to the score of any metric (USE-4)', () => {
    const rewards = fc.array(fc.tuple(fc.double({ min: 0, max: 5, noNaN: true })), { minLength: 2, maxLength: 12 })
    fc.assert(
      fc.property(rewards, (each) => {
        const found = Object.values(scoresOf(ratio, each) ?? {})
        const total = ratio.compute(
          each.map((task) => [...task]),
          [],
          [],
        )
        expect(found).toHaveLength(each.length)
        expect(meanOf(found.map(Number))).toBeCloseTo(Number(total), 9)
      }),
    )
  })

  it('is open where a reward is missing, and absent where the rewards alone give it (USE-4)', () => {
    expect(scoresOf(mean, [[0.5], [null]])).toEqual({ t0: 0.5, t1: [0, 1] })
    expect(scoresOf({ ...mean, fromRewards: true }, [[0.5], [1]])).toBeUndefined()
  })

  it('is absent where the metric has no value without some task, and of one task (USE-4)', () => {
    const needsAll: ReadyMetric = {
      ...ratio,
      compute(rewards) {
        if (rewards.length < 3) throw new Error('three at least')
        return Math.max(...rewards.flat())
      },
    }
    expect(scoresOf(needsAll, [[1], [2], [3]])).toBeUndefined()
    expect(scoresOf(ratio, [[1]])).toBeUndefined()
  })

  it('stands in groups where tasks come by the thousand, so that its cost is bounded (USE-4)', () => {
    const rewards = Array.from({ length: 1201 }, (_, i) => [i % 7])
    let calls = 0
    const counted: ReadyMetric = {
      ...ratio,
      compute(...args) {
        calls++
        return ratio.compute(...args)
      },
    }
    const found = scoresOf(counted, rewards) ?? {}
    expect(Object.keys(found)).toHaveLength(500)
    expect(Object.keys(found)[0]).toBe('t0 and 2 more')
    expect(calls).toBeLessThan(1201 + 500 + 10)
  })
})
