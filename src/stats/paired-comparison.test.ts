import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { simulateExperiment } from '../../tests/simulated-experiment.ts'
import type { ArmScores, Cell } from './pair-scores.ts'
import { comparePaired, type PairedComparisonOptions } from './paired-comparison.ts'
import { tInterval } from './student-t.ts'

const random = draws('comparison')
const seedsOnly = (scores: readonly number[]): ArmScores => ({
  seeds: [...scores.keys()],
  cells_S_T: scores.map((x) => [x]),
})
const byTask = (cells_S_T: readonly (readonly Cell[])[]): ArmScores => ({
  seeds: [...cells_S_T.keys()],
  tasks: (cells_S_T[0] ?? []).map((_, t) => `task ${t}`),
  cells_S_T,
})
const compare = (treatment: ArmScores, baseline: ArmScores, options: Partial<PairedComparisonOptions> = {}) =>
  comparePaired({ treatment, baseline, direction: 'max', random, ...options })

describe('the smallest effect that counts', () => {
  it('shifts evidence, sign flips and seeds needed as a better baseline would (STA-13)', () => {
    const claimed = compare(seedsOnly([1, 2.5, 3, 4.5]), seedsOnly([0, 0.5, 0.5, 1]), { minEffect: 1 })
    const shifted = compare(seedsOnly([1, 2.5, 3, 4.5]), seedsOnly([1, 1.5, 1.5, 2]))
    expect(claimed.signFlip).toEqual(shifted.signFlip)
    expect(claimed.evidence).toEqual(shifted.evidence)
    expect(claimed.seedsNeeded).toBe(shifted.seedsNeeded)
    expect(claimed.evidence.evidence).toBeLessThan(
      compare(seedsOnly([1, 2.5, 3, 4.5]), seedsOnly([0, 0.5, 0.5, 1])).evidence.evidence,
    )
    const below = compare(seedsOnly([0, 0.5, 0.5, 1]), seedsOnly([0, 0, 0, 0]), { minEffect: 5 })
    expect(below.seedsNeeded).toBe(2)
  })

  it('is held against lost scores at their worst (STA-14)', () => {
    const baseline = byTask(Array.from({ length: 4 }, () => [0, 0, 0]))
    const scores = (lost: Cell) => [
      [1, 1, lost],
      [1, 0, 1],
      [1, 1, 0],
      [0, 1, 1],
    ]
    const open = compare(byTask(scores({ lower: 0, upper: 1 })), baseline)
    const worst = compare(byTask(scores(0)), baseline)
    expect(open.signFlip).toEqual(worst.signFlip)
    expect(open.evidence.evidence).toBeCloseTo(worst.evidence.evidence, 12)
    const known = compare(byTask(scores(0.5)), baseline)
    expect(open.effect).toBeCloseTo(known.effect, 12)
    expect(open.unknown).toBeCloseTo(0.5 / 12, 12)
  })

  it('refuses a noise from elsewhere that is none (STA-13)', () => {
    for (const sigma of [0, -1, Number.NaN]) {
      expect(() => compare(seedsOnly([1, 2]), seedsOnly([0, 0]), { sigma })).toThrow('sigma must be above zero')
    }
    for (const minEffect of [-1e101, 1e101, Number.NaN]) {
      expect(() => compare(seedsOnly([1, 2]), seedsOnly([0, 0]), { minEffect })).toThrow('sensible number')
    }
  })

  it('has a next seed above zero by the spread of one seed and the error of the mean (STA-10)', () => {
    // Student t of 2 degrees of freedom has F(t) = 1/2 + t / (2 sqrt(2 + t^2)), and t = 2 / (sqrt(1/3) sqrt(4)) = sqrt(3).
    const { probabilityBetter } = compare(seedsOnly([1, 2, 3]), seedsOnly([0, 0, 0]))
    expect(probabilityBetter).toBeCloseTo(0.5 + Math.sqrt(3) / (2 * Math.sqrt(5)), 12)
  })
})

describe('comparePaired over seeds alone', () => {
  const treatment = [0.71, 0.74, 0.69, 0.73]
  const baseline = [0.66, 0.72, 0.68, 0.67]

  it('is the paired t interval (STA-13)', () => {
    const comparison = compare(seedsOnly(treatment), seedsOnly(baseline))
    const expected = tInterval(
      treatment.map((value, i) => value - (baseline[i] ?? Number.NaN)),
      0.9,
    )
    expect(comparison.effect).toBeCloseTo(expected.estimate, 12)
    expect(comparison.interval?.lower).toBeCloseTo(expected.interval?.lower ?? Number.NaN, 12)
    expect(comparison.interval?.upper).toBeCloseTo(expected.interval?.upper ?? Number.NaN, 12)
    expect(comparison.variance).toEqual({
      seed: expect.closeTo((2 * (expected.standardError ?? 0)) ** 2, 12),
      task: null,
      residual: null,
    })
    expect(comparison).toMatchObject({ nTasks: null, limitedBy: 'seeds', unknown: 0, error: { over: 'seeds' } })
  })

  it('turns a metric around that is better when lower (STA-13)', () => {
    const up = compare(seedsOnly(treatment), seedsOnly(baseline), { minEffect: 0.01 })
    const down = compare(seedsOnly(baseline), seedsOnly(treatment), { minEffect: 0.01, direction: 'min' })
    expect(down.effect).toBeCloseTo(up.effect, 12)
    expect(down.interval?.lower).toBeCloseTo(up.interval?.lower ?? Number.NaN, 12)
    expect(down.signFlip).toEqual(up.signFlip)
  })

  it('says what one more seed would show, and how many would decide (STA-10)', () => {
    const comparison = compare(seedsOnly(treatment), seedsOnly(baseline))
    expect(comparison.probabilityBetter).toBeGreaterThan(0.8)
    expect(comparison.seedsNeeded).toBeGreaterThanOrEqual(5)
    expect(comparison.signFlip).toEqual({ p: 1 / 16, smallestP: 1 / 16, exact: true })
  })

  it('of one seed knows an effect and nothing else (STA-15)', () => {
    const one = compare(seedsOnly([0.9]), seedsOnly([0.1]))
    expect(one).toMatchObject({ interval: null, error: null, probabilityBetter: null, seedsNeeded: null })
    expect(one.effect).toBeCloseTo(0.8, 12)
    expect(compare(seedsOnly([0.9]), seedsOnly([0.1]), { sigma: 0.5 }).seedsNeeded).toBeGreaterThan(2)
  })

  it('takes the noise that is known from elsewhere for evidence and seeds needed (STA-8)', () => {
    const noisy = compare(seedsOnly(treatment), seedsOnly(baseline), { sigma: 1 })
    const quiet = compare(seedsOnly(treatment), seedsOnly(baseline), { sigma: 0.01 })
    expect(quiet.evidence.evidence).toBeGreaterThan(20)
    expect(noisy.evidence.evidence).toBeLessThan(2)
    expect(noisy.seedsNeeded).toBeNull()
    expect(quiet.seedsNeeded).toBeLessThan(6)
  })
})

describe('comparePaired over seeds and tasks', () => {
  // d = mu + seed + task + residual with a large spread between tasks.
  const tasks = [3, -3, 2, -2, 0]
  const rows = [0.5, 0.7, 0.9].map((seed, s) =>
    tasks.map((task, t) => 1 + seed + task + ((s + t) % 2 === 0 ? 0.1 : -0.1)),
  )
  const zero = rows.map((row) => row.map(() => 0))

  it('lets tasks like these decide, and reports these very tasks apart (STA-13, USE-1)', () => {
    const { interval, seedInterval, effect, variance, limitedBy, nTasks } = compare(byTask(rows), byTask(zero))
    expect(effect).toBeCloseTo(1.7, 1)
    expect(seedInterval?.lower).toBeGreaterThan(0)
    expect(interval?.lower).toBeLessThan(0)
    expect(nTasks).toBe(5)
    expect(variance.task).toBeGreaterThan(5)
    expect(variance.seed).toBeLessThan(0.1)
    expect(limitedBy).toBe('tasks')
  })

  it('names what limits: seeds, tasks, or single cells (STA-13)', () => {
    const grid = (seed: number, task: number, cell: number) => {
      const chance = draws('limits')
      const levels = Array.from({ length: 10 }, () => task * chance.normal())
      return Array.from({ length: 10 }, () => {
        const luck = seed * chance.normal()
        return levels.map((level) => luck + level + cell * chance.normal())
      })
    }
    const limit = (table: number[][]) => compare(byTask(table), byTask(table.map((row) => row.map(() => 0)))).limitedBy
    expect(limit(grid(5, 1, 1))).toBe('seeds')
    expect(limit(grid(1, 5, 1))).toBe('tasks')
    expect(limit(grid(0.01, 0.01, 5))).toBe('residual')
    expect(
      limit([
        [0, 0],
        [0, 0],
      ]),
    ).toBeNull()
  })

  it('compares what both ran, and names the rest (STA-14)', () => {
    const partial = { ...byTask(zero), seeds: [0, 1, 99] }
    const comparison = compare(byTask(rows), partial)
    expect(comparison.seeds).toEqual([0, 1])
    expect(comparison.unpairedSeeds).toEqual([2, 99])
  })

  it('does not blame a seed for the hard tasks that only it ran (STA-14)', () => {
    const additive = [0, 0.1, 0.2].map((seed) => tasks.map((task) => seed + task))
    const holed = additive.map((row, s) => row.map((value, t) => (s === 1 && t === 0 ? null : value)))
    const comparison = compare(byTask(holed), byTask(zero))
    expect(comparison.missing).toBe(1)
    expect(comparison.effect).toBeCloseTo(0.1, 10)
    expect(comparison.variance.seed).toBeCloseTo(0.01, 10)
  })

  it('lost scores widen both intervals to all that they may have been (STA-14, USE-110)', () => {
    // Fill the lost scores at random between their bounds: no filling may leave the interval.
    const chance = draws('lost')
    for (let i = 0; i < 60; i++) {
      const { treatment, baseline } = simulateExperiment({ seeds: 2 + chance.int(4), tasks: 2 + chance.int(8) }, chance)
      const lost = { lower: 0, upper: 1 }
      const holes = treatment.cells_S_T.map((row) => row.map(() => chance.float() < 0.15))
      const hidden = treatment.cells_S_T.map((row, s) => row.map((cell, t) => (holes[s]?.[t] ? lost : cell)))
      const bounded = compare({ ...treatment, cells_S_T: hidden }, baseline, { resolution: 1 })
      for (let fill = 0; fill < 20; fill++) {
        const cells_S_T = hidden.map((row) =>
          row.map((cell) => (cell === lost ? ([0, 1, chance.float()][chance.int(3)] ?? 0) : cell)),
        )
        const filled = compare({ ...treatment, cells_S_T }, baseline, { resolution: 1 })
        for (const of of ['interval', 'seedInterval'] as const) {
          if (filled[of] === null) continue
          expect(filled[of].lower).toBeGreaterThanOrEqual((bounded[of]?.lower ?? Number.NaN) - 1e-9)
          expect(filled[of].upper).toBeLessThanOrEqual((bounded[of]?.upper ?? Number.NaN) + 1e-9)
        }
        expect(Math.abs(filled.effect - bounded.effect)).toBeLessThanOrEqual(bounded.unknown + 1e-9)
      }
    }
  })

  it('on tasks like these is never narrower at an end than on these very tasks (USE-111)', () => {
    const chance = draws('nested')
    for (let i = 0; i < 300; i++) {
      const world = {
        seeds: 2 + chance.int(4),
        tasks: 2 + chance.int(30),
        taskSd: 2 * chance.float(),
        sharedSd: 0,
        armSd: chance.float(),
        cellSd: chance.float(),
      }
      const { treatment, baseline } = simulateExperiment(world, chance)
      const { interval, seedInterval } = compare(treatment, baseline)
      if (seedInterval === null) continue
      expect(interval?.lower).toBeLessThanOrEqual(seedInterval.lower + 1e-12)
      expect(interval?.upper).toBeGreaterThanOrEqual(seedInterval.upper - 1e-12)
    }
  })

  it('order of seeds and tasks does not matter (STA-13)', () => {
    const size = fc.integer({ min: 2, max: 6 })
    fc.assert(
      fc.property(size, size, fc.nat(), (seeds, nTasks, seed) => {
        const { treatment, baseline } = simulateExperiment({ seeds, tasks: nTasks }, draws('order', seed))
        const here = compare(treatment, baseline)
        const mirrored: ArmScores = {
          seeds: [...treatment.seeds].reverse(),
          tasks: [...(treatment.tasks ?? [])].reverse(),
          cells_S_T: [...treatment.cells_S_T].reverse().map((row) => [...row].reverse()),
        }
        const there = compare(mirrored, baseline)
        expect(there.effect).toBeCloseTo(here.effect, 12)
        expect(there.interval?.lower ?? 0).toBeCloseTo(here.interval?.lower ?? 0, 9)
        expect(there.signFlip.p).toBe(here.signFlip.p)
      }),
    )
  })

  it('refuses odd options (STA-13)', () => {
    expect(() => compare(byTask(rows), byTask(zero), { confidence: 1.5 })).toThrow(/confidence/)
    expect(() => compare(byTask(rows), byTask(zero), { minEffect: Number.NaN })).toThrow(/minEffect/)
    expect(() => compare(byTask(rows), byTask(zero), { resolution: 0 })).toThrow(/resolution/)
    expect(() => compare(byTask(rows), byTask(zero), { sigma: -1 })).toThrow(/sigma/)
  })
})

describe('comparePaired of coarse or repeated scores', () => {
  const repeat = (row: number[], n: number) => Array.from({ length: n }, () => row)
  const flat = (value: number, nTasks: number, n: number) => repeat(new Array(nTasks).fill(value), n)

  it('takes n equal seeds for one observation and lets the tasks decide (STA-15)', () => {
    const differences = [1, 1, 1, 0, 1, 0, 1, 1, 0, 1]
    const comparison = compare(byTask(repeat(differences, 3)), byTask(flat(0, 10, 3)))
    expect(comparison.error).toMatchObject({ over: 'tasks', df: 9 })
    // Ten tasks, seven solved: mean 0.7, sd 0.483, and half a flip of one task.
    expect(comparison.interval?.lower).toBeCloseTo(0.7 - 1.8331 * (0.48305 / Math.sqrt(10)) - 0.05, 3)
    expect(comparison.seedsNeeded).toBeNull()
    expect(comparison.signFlip).toMatchObject({ p: 0.5 })
    expect(comparison.evidence.evidence).toBeLessThan(2)
  })

  it('gives no width of zero to seeds that agree by luck while tasks differ (STA-15)', () => {
    // Every seed gains 0.2, but each on other tasks.
    const cells = [
      [1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
      [0, 0, 1, 1, 0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 1, 1, 0, 0, 0, 0],
    ]
    const { error, seedError, interval } = compare(byTask(cells), byTask(flat(0, 10, 3)))
    expect([error?.over, seedError?.over]).toEqual(['both', 'seeds'])
    expect(seedError?.rests).not.toBe('spread')
    expect((interval?.upper ?? 0) - (interval?.lower ?? 0)).toBeGreaterThan(0.19)
  })

  it('does not believe a spread far below the noise of single tasks (STA-15)', () => {
    // 30 tasks of large noise, in each seed shifted so that all seed means are nearly equal.
    const chance = draws('agree')
    const cells = [0.5, 0.5001, 0.4999].map((mean) => {
      const row = Array.from({ length: 30 }, () => chance.normal())
      const shift = mean - row.reduce((sum, value) => sum + value, 0) / 30
      return row.map((value) => value + shift)
    })
    const { seedError, variance } = compare(byTask(cells), byTask(flat(0, 30, 3)))
    expect(seedError?.rests).toBe('pooled')
    expect(seedError?.df).toBe(60)
    const pooled = (58 / 60) * (variance.residual ?? Number.NaN)
    expect(seedError?.standardError).toBeCloseTo(Math.sqrt(pooled / 90), 5)
  })

  it('of equal scores has an interval where their range says how far one can move (USE-1)', () => {
    const tie = compare(byTask(flat(1, 20, 3)), byTask(flat(1, 20, 3)), { range: [0, 1] })
    expect(tie).toMatchObject({ effect: 0, error: { over: 'tasks', standardError: 0.05 } })
    expect(tie.interval?.upper).toBeCloseTo(0.05 * 1.7291 + 0.025, 4)
  })

  it('never reaches beyond what scores of its range can differ (USE-2)', () => {
    const options = { range: [0, 1] as const, minEffect: 0.5 }
    const { interval, seedInterval } = compare(byTask(flat(1, 4, 3)), byTask(flat(0, 4, 3)), options)
    expect([interval?.upper, seedInterval?.upper]).toEqual([1, 1])
    expect(compare(byTask(flat(0, 4, 3)), byTask(flat(1, 4, 3)), options).interval?.lower).toBe(-1)
    expect(compare(byTask(flat(1, 4, 3)), byTask(flat(0, 4, 3))).interval?.upper).toBeGreaterThan(1)
  })

  it('has no interval when nothing varies at all (STA-15)', () => {
    expect(compare(byTask(flat(1, 4, 3)), byTask(flat(1, 4, 3))).interval).toBeNull()
    expect(compare(seedsOnly([0.5, 0.5, 0.5]), seedsOnly([0.4, 0.4, 0.4])).interval).toBeNull()
  })

  it('keeps a floor of one flipped score when all flips went one way (STA-15)', () => {
    const all = compare(byTask(flat(1, 5, 3)), byTask(flat(0, 5, 3)))
    expect(all.error).toMatchObject({ over: 'tasks', rests: 'resolution', standardError: 0.2, grain: 0.1 })
    const two = compare(byTask(flat(1, 2, 3)), byTask(flat(0, 2, 3)))
    expect(two.interval?.lower).toBeLessThan(0)
  })
})
