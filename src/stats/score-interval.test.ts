import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { scaled } from '../../tests/scale.ts'
import type { ArmScores, Cell } from './pair-scores.ts'
import { wilson } from './proportions.ts'
import { scoreInterval } from './score-interval.ts'
import { tInterval } from './student-t.ts'

const byTask = (cells_S_T: readonly (readonly Cell[])[]): ArmScores => ({
  seeds: [...cells_S_T.keys()],
  tasks: (cells_S_T[0] ?? []).map((_, t) => `task ${t}`),
  cells_S_T,
})
const bySeed = (scores: readonly number[]): ArmScores => ({
  seeds: [...scores.keys()],
  cells_S_T: scores.map((score) => [score]),
})
const right = (count: number, tasks: number) => Array.from({ length: tasks }, (_, t) => Number(t < count))
const share = { confidence: 0.9, range: [0, 1] } as const

describe('the interval of a score', () => {
  it('of one seed is over its tasks, and says so (USE-1)', () => {
    const values = [0.4, 1.4, 0.9, 2.2]
    const found = scoreInterval(byTask([values]), { confidence: 0.9 })
    const { interval } = tInterval(values, 0.9)
    expect(found).toMatchObject({ over: 'tasks', lower: expect.closeTo(interval?.lower ?? 0, 12) })
    expect(found?.upper).toBeCloseTo(interval?.upper ?? 0, 12)
    expect(scoreInterval(bySeed([0.5]), share)).toBeNull()
  })

  it('of shares never leaves their range, and is open on one side where all tasks agree (USE-1)', () => {
    for (const seeds of [1, 3]) {
      const rows = (count: number) => Array.from({ length: seeds }, () => right(count, 20))
      const all = scoreInterval(byTask(rows(20)), share)
      expect(all).toMatchObject({ upper: 1 })
      expect(all?.lower).toBeCloseTo(wilson(20, 20, 0.9).lower, 12)
      expect(scoreInterval(byTask(rows(0)), share)).toMatchObject({ lower: 0 })
      const some = scoreInterval(byTask(rows(19)), share)
      expect(some?.lower).toBeCloseTo(wilson(19, 20, 0.9).lower, 1)
      expect(some?.upper).toBeLessThan(1)
    }
  })

  it('of seeds and tasks is wider than of either alone (USE-1)', () => {
    const seeds = [-0.1, 0, 0.1]
    const tasks = [0.2, 0.4, 0.6, 0.8, 0.3, 0.7]
    const cells = seeds.map((seed, s) => tasks.map((task, t) => task + seed + ((s + t) % 2 === 0 ? 0.01 : -0.01)))
    const width = (scores: ArmScores) => {
      const found = scoreInterval(scores, share)
      return (found?.upper ?? 0) - (found?.lower ?? 0)
    }
    const both = scoreInterval(byTask(cells), share)
    expect(both?.over).toBe('both')
    expect(width(byTask(cells))).toBeGreaterThan(width(byTask(cells.slice(0, 1))))
    const means = cells.map((row) => row.reduce((sum, value) => sum + value, 0) / row.length)
    expect(scoreInterval(bySeed(means), share)?.over).toBe('seeds')
    expect(width(byTask(cells))).toBeGreaterThan(width(bySeed(means)) * 0.9)
  })

  it('is wide enough for every value that lost scores may have had (USE-1)', () => {
    const known = right(6, 12)
    const open = known.map((cell, t): Cell => (t % 4 === 0 ? { lower: 0, upper: 1 } : cell))
    const whole = scoreInterval(byTask([open]), share)
    for (const fill of [0, 1]) {
      const filled = scoreInterval(byTask([open.map((cell) => (typeof cell === 'number' ? cell : fill))]), share)
      expect(whole?.lower).toBeLessThanOrEqual(filled?.lower ?? Number.NaN)
      expect(whole?.upper).toBeGreaterThanOrEqual(filled?.upper ?? Number.NaN)
    }
  })

  it('stays on its side of a range that is open on the other (USE-2)', () => {
    const found = scoreInterval(byTask([[0, 0.1, 5]]), { confidence: 0.9, range: [0, null] })
    expect(found?.lower).toBe(0)
    expect(found?.upper).toBeGreaterThan(3)
  })

  it.each([1, 2, 5])(
    'holds the share of right answers on tasks like these in 87 to 95 %%, %d seeds of 25 tasks (USE-1)',
    (n) => {
      const random = draws('share', n)
      const experiments = scaled(800)
      let held = 0
      for (let i = 0; i < experiments; i++) {
        const truth = 0.4 + 0.5 * random.float()
        // A task is right in every seed or in none, but for one answer in ten.
        const luck = Array.from({ length: 25 }, () => random.float())
        const cells = Array.from({ length: n }, () =>
          luck.map((own) => Number((random.float() < 0.1 ? random.float() : own) < truth)),
        )
        const found = scoreInterval(byTask(cells), share)
        held += Number(found !== null && found.lower <= truth && truth <= found.upper)
      }
      expect(held / experiments).toBeGreaterThan(0.87)
      expect(held / experiments).toBeLessThan(0.95)
    },
  )
})
