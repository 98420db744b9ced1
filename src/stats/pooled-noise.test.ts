import { describe, expect, it } from 'vitest'
import { pooledNoise } from './pooled-noise.ts'

describe('pooledNoise', () => {
  it('is worked out by hand (STA-11)', () => {
    // Baseline 1, 2, 3: variance 1, so s0^2 = 2 on 2 degrees. Differences: squares 2 on 1 and 8 on 2. (4 + 2 + 8) / 5.
    const noise = pooledNoise({ baseline: [1, 2, 3], differences: [[0, 2], [-2, 0, 2], [9]], repeats: [[4, 4.2]] })
    expect(noise.sigma).toBeCloseTo(Math.sqrt(14 / 5), 12)
    expect(noise.df).toBe(5)
    expect(noise.seedSd).toBeCloseTo(1, 12)
    expect(noise.jitterSd).toBeCloseTo(0.2 / Math.SQRT2, 12)
    expect(noise.visible.map(({ pairs }) => pairs)).toEqual([2, 3, 5])
    expect(noise.visible[1]?.effect).toBeCloseTo((2.5 * Math.sqrt(14 / 5)) / Math.sqrt(3), 12)
  })

  it('knows nothing before something was measured twice (STA-11)', () => {
    const nothing = { sigma: null, df: 0, seedSd: null, jitterSd: null, visible: [] }
    expect(pooledNoise({ baseline: [1] })).toEqual(nothing)
    expect(pooledNoise({ baseline: [], differences: [[1]] })).toEqual(nothing)
    expect(pooledNoise({ baseline: [], differences: [[1, 3]] }).sigma).toBeCloseTo(Math.SQRT2, 12)
  })

  it('refuses NaN (STA-11)', () => {
    expect(() => pooledNoise({ baseline: [1, Number.NaN] })).toThrow(RangeError)
    expect(() => pooledNoise({ baseline: [1, 2], repeats: [[Number.NaN]] })).toThrow(RangeError)
  })
})
