import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { exactUpTo, signFlip } from './sign-flip.ts'

const random = draws('sign-flip')
const differences = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 10 })

describe('signFlip', () => {
  it('gives Fisher’s p for Darwin’s maize (STA-4)', () => {
    // Fisher (1935), The Design of Experiments, section 21: of 32,768 sign choices 863 give 314 or more, 1,726 in both directions.
    const darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    const oneSided = signFlip({ differences: darwin, alternative: 'greater', random })
    expect(oneSided).toEqual({ p: 863 / 32768, smallestP: 2 ** -15, exact: true })
    expect(signFlip({ differences: darwin, alternative: 'two-sided', random }).p).toBe(1726 / 32768)
  })

  it.each([
    [1, 0.5],
    [3, 0.125],
    [4, 0.0625],
    [5, 0.03125],
  ])('cannot go below 2^-n: with %d seeds %d (STA-4)', (n, smallest) => {
    const result = signFlip({ differences: new Array(n).fill(0.3), alternative: 'greater', random })
    expect(result).toEqual({ p: smallest, smallestP: smallest, exact: true })
  })

  it('counts every sign choice, as brute force does (STA-4)', () => {
    fc.assert(
      fc.property(differences, (values) => {
        const observed = values.reduce((sum, d) => sum + d, 0)
        let extreme = 0
        for (let code = 0; code < 2 ** values.length; code++) {
          const sum = values.reduce((total, d, i) => total + ((code >> i) & 1 ? -d : d), 0)
          if (sum >= observed) extreme++
        }
        const { p } = signFlip({ differences: values, alternative: 'greater', random })
        expect(p).toBeCloseTo(extreme / 2 ** values.length, 12)
      }),
    )
  })

  it('sees ties through rounding (STA-4)', () => {
    // 0.1 + 0.2 - 0.3 is not zero in doubles, but it is a tie.
    const { p } = signFlip({ differences: [0.1, 0.2, -0.3], alternative: 'greater', random })
    expect(p).toBe(5 / 8)
  })

  it('is symmetric in direction, and zeros take no part (STA-4)', () => {
    fc.assert(
      fc.property(differences, (values) => {
        const greater = signFlip({ differences: values, alternative: 'greater', random })
        const mirrored = signFlip({ differences: values.map((d) => -d), alternative: 'less', random })
        expect(mirrored).toEqual(greater)
        expect(signFlip({ differences: [...values, 0], alternative: 'greater', random })).toEqual(greater)
        expect(greater.p).toBeGreaterThanOrEqual(greater.smallestP)
      }),
    )
    expect(signFlip({ differences: [0, 0], alternative: 'greater', random })).toMatchObject({ p: 1, smallestP: 1 })
  })

  it('draws flips beyond 20 pairs, repeatably, near the exact value (STA-4)', () => {
    const chance = draws('long')
    const long = Array.from({ length: exactUpTo + 10 }, () => 0.35 + chance.normal())
    const run = () => signFlip({ differences: long, alternative: 'greater', random: draws('flips') })
    const { p, exact, smallestP } = run()
    expect(run().p).toBe(p)
    expect(exact).toBe(false)
    expect(smallestP).toBe(1 / 20_001)
    // The sum of 30 flipped differences is close to normal with variance sum of squares.
    const z = long.reduce((sum, d) => sum + d, 0) / Math.hypot(...long)
    const normalTail = 0.5 * Math.exp(-0.717 * z - 0.416 * z * z) // Lin (1989), within 10 % here
    expect(p / normalTail).toBeGreaterThan(0.5)
    expect(p / normalTail).toBeLessThan(2)
  })

  it('refuses nothing and NaN (STA-4)', () => {
    expect(() => signFlip({ differences: [], alternative: 'greater', random })).toThrow(RangeError)
    expect(() => signFlip({ differences: [Number.NaN], alternative: 'greater', random })).toThrow(RangeError)
  })
})
