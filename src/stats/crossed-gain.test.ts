import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { scaled } from '../../tests/scale.ts'
import { crossedGain, gainInterval, gainTail, shrunkenByTest } from './crossed-gain.ts'
import { tInterval } from './student-t.ts'

describe('crossedGain', () => {
  it('is the t interval over seeds where there are no items (USE-20)', () => {
    const gains = [0.1, 0.4, 0.2, 0.3, 0.15]
    const { interval } = tInterval(gains, 0.9)
    const ours = gainInterval(crossedGain(gains.map((gain) => [gain])), 0.05)
    expect(ours?.lower).toBeCloseTo(interval?.lower ?? Number.NaN, 12)
    expect(ours?.upper).toBeCloseTo(interval?.upper ?? Number.NaN, 12)
  })

  it('shrinks a mean that passed its test: above zero, least where it passed by far, and less wrong where nothing is there (USE-142)', () => {
    const random = draws('shrunken by test')
    const passed: { mean: number; shrunken: number }[] = []
    for (let i = 0; i < scaled(20_000); i++) {
      const gain = crossedGain(Array.from({ length: 10 }, () => [random.normal()]))
      if ((gainInterval(gain, 0.0375)?.lower ?? 0) <= 0) continue
      passed.push({ mean: gain.mean, shrunken: shrunkenByTest(gain, 0.0375) })
    }
    expect(passed.length).toBeGreaterThan(100)
    for (const { mean, shrunken } of passed) {
      expect(shrunken).toBeGreaterThan(0)
      expect(shrunken).toBeLessThan(mean)
    }
    const average = (of: 'mean' | 'shrunken') => passed.reduce((sum, each) => sum + each[of] / passed.length, 0)
    expect(average('shrunken')).toBeLessThan(0.75 * average('mean'))
    const far = crossedGain([0.9, 1, 1.1, 1, 1].map((gain) => [10 * gain]))
    expect(shrunkenByTest(far, 0.0375)).toBeCloseTo(far.mean, 3)
  })

  it('has no error, and proves nothing, where nothing varies (USE-21)', () => {
    for (const table of [
      [[1]],
      [[1], [1]],
      [
        [0, 0],
        [0, 0],
      ],
    ]) {
      const gain = crossedGain(table)
      expect(gain).toMatchObject({ standardError: null, df: null })
      expect([gainTail(gain), gainInterval(gain, 0.05)]).toEqual([1, null])
    }
  })

  it('counts seeds that all say the same as one, and its items as a sample (USE-21)', () => {
    const row = [...Array.from({ length: 4 }, () => 1), ...Array.from({ length: 114 }, () => 0)]
    // Four of four items that differ speak for it: the sign test says 1/16.
    const once = gainTail(crossedGain([row]))
    const often = gainTail(crossedGain(Array.from({ length: 10 }, () => row)))
    expect(often).toBeCloseTo(once, 12)
    expect(once).toBeGreaterThan(0.05)
    expect(once).toBeLessThan(0.08)
  })

  // Coverage of 90 % intervals, and claims of 5 %, over seeds and items that are both drawn; by cell, 20 to 400 items, 3 to 10 seeds.
  const cells = [20, 118, 400].flatMap((items) => [3, 10].map((seeds) => [items, seeds] as const))
  const n = scaled(150)
  const error = 3 * Math.sqrt((0.1 * 0.9) / n)
  it.each(cells)('covers as it says with %d items and %d seeds (USE-22)', (items, seeds) => {
    const random = draws('crossed gain', items, seeds)
    const normal = () => random.normal()
    const sign = () => (random.float() < 0.5 ? 1 : -1)
    const models: Record<string, () => number[][]> = {
      coins: () => repeated(Array.from({ length: items }, () => (random.float() < 0.5 ? sign() : 0))),
      'nearly deterministic': () => repeated(Array.from({ length: items }, () => (random.float() < 0.04 ? sign() : 0))),
      continuous: () => {
        const luck = Array.from({ length: items }, () => Math.sqrt(items) * normal())
        return Array.from({ length: seeds }, () => shifted(luck, normal()))
      },
      shares: () => {
        const chances = Array.from({ length: items }, () => [random.float(), random.float()] as const)
        const drawn = (p: number) => Number(random.float() < p)
        return Array.from({ length: seeds }, () => chances.map(([a, b]) => drawn(a) - drawn(b)))
      },
    }
    for (const [name, draw] of Object.entries(models)) {
      let covered = 0
      let claimed = 0
      for (let i = 0; i < n; i++) {
        const gain = crossedGain(draw())
        const { lower = 0, upper = 0 } = gainInterval(gain, 0.05) ?? {}
        covered += Number(lower <= 0 && upper >= 0)
        claimed += Number(lower > 0)
      }
      expect(covered / n, name).toBeGreaterThan(0.88 - error)
      expect(claimed / n, name).toBeLessThan(0.055 + error)
    }
    function repeated(row: number[]): number[][] {
      return Array.from({ length: seeds }, () => row)
    }
    function shifted(row: readonly number[], by: number): number[] {
      return row.map((value) => value + by)
    }
  })
})
