import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { scaled } from '../../tests/scale.ts'
import { adaptiveRule, decideRaceAt, type RaceRule, racePresets, updateTypicalGain } from './race.ts'

const three: RaceRule = { threshold: 0.8, maxSeeds: 3 }

/** The decision after these gains, each with noise `sigma`. */
function decideRace(gains: readonly number[], sigma: number, rule: RaceRule) {
  const n = gains.length
  return decideRaceAt(n, gains.reduce((sum, gain) => sum + gain, 0) / Math.sqrt(n) / sigma, rule)
}

describe('decideRaceAt', () => {
  it.each([
    ['drops a bad first seed', [-0.1], 'discard'],
    ['drops a first seed that shows nothing', [0.19], 'discard'],
    ['goes on with a first seed that shows something', [0.21], 'continue'],
    ['keeps nothing on one seed', [50], 'continue'],
    ['drops what is not above the floor after two', [0.2, 0.2], 'discard'], // z = 0.28 < 0.3
    ['keeps strong evidence early', [1, 1], 'keep'], // z = 1.41 > 0.8 sqrt(3/2) = 0.98
    ['goes on between', [0.3, 0.3], 'continue'], // z = 0.42
    ['keeps at the last seed', [0.3, 0.3, 1], 'keep'], // z = 0.92 > 0.8
    ['parks a near miss', [0.3, 0.3, 0.3], 'inconclusive'], // z = 0.52
    ['drops a loss at the last seed', [0.3, 0.3, -0.9], 'discard'],
  ] as const)('%s (STA-12)', (_name, gains, decision) => {
    expect(decideRace(gains, 1, three)).toBe(decision)
  })

  it('drops a real gain of one seed deviation on its first seed in 31 % and 18 % (STA-12)', () => {
    // Seeds correlated by rho: sigma_d = sqrt(2 (1 - rho)), so P(z_1 < 0.2) = Phi(0.2 - 1 / sigma_d).
    for (const [rho, share] of [
      [0, 0.306],
      [0.6, 0.179],
    ] as const) {
      const sigma = Math.sqrt(2 * (1 - rho))
      const random = draws('race', rho)
      const n = scaled(5000)
      let dropped = 0
      for (let i = 0; i < n; i++)
        dropped += Number(decideRace([1 + sigma * random.normal()], sigma, three) === 'discard')
      expect(Math.abs(dropped / n - share)).toBeLessThan(0.02)
    }
  })

  it('ends by the last seed, and never keeps a loss (STA-12)', () => {
    const gains = fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 1, maxLength: 5 })
    const rule = fc.record({
      threshold: fc.double({ min: 0, max: 2, noNaN: true }),
      maxSeeds: fc.constantFrom(2 as const, 3 as const, 5 as const),
    })
    fc.assert(
      fc.property(gains, rule, (values, race) => {
        const decision = decideRace(values, 0.7, race)
        if (values.length >= race.maxSeeds) expect(decision).not.toBe('continue')
        if (decision === 'keep') expect(values.reduce((sum, gain) => sum + gain, 0)).toBeGreaterThan(0)
      }),
    )
  })
})

describe('adaptiveRule', () => {
  it.each([
    [2, 0, 0.6, 2],
    [0.8, 0, 0.6, 2],
    [0.5, 0.5, 0.975, 3],
    [0.2, 1, 1.35, 5],
    [0, 1, 1.35, 5],
  ])(
    'for gains of %d sigma: strictness %d, threshold %d, %d seeds (STA-12)',
    (gain, strictness, threshold, maxSeeds) => {
      const rule = adaptiveRule(gain)
      expect(rule.strictness).toBeCloseTo(strictness, 12)
      expect(rule.threshold).toBeCloseTo(threshold, 12)
      expect(rule.maxSeeds).toBe(maxSeeds)
    },
  )

  it('follows kept gains and fades without them (STA-12)', () => {
    expect(updateTypicalGain(1, 2)).toBeCloseTo(1.3, 12)
    expect(updateTypicalGain(1, null)).toBeCloseTo(0.985, 12)
    expect(() => adaptiveRule(Number.NaN)).toThrow(RangeError)
  })

  it('has fixed rules at both ends (STA-12)', () => {
    expect(decideRace([0.3, 0.3], 1, racePresets.explore)).toBe('keep')
    expect(decideRace([0.6, 0.6, 0.6, 0.6, 0.6], 1, racePresets.strict)).toBe('inconclusive')
  })
})

describe('the line above which a race ends early', () => {
  it.each([
    [2, 5 / 2],
    [3, 5 / 3],
    [4, 5 / 4],
    [5, 1],
  ])('after %d of five seeds is that of O’Brien and Fleming (STA-12)', (n, ratio) => {
    const line = racePresets.strict.threshold * Math.sqrt(ratio)
    expect(decideRaceAt(n, line + 1e-9, racePresets.strict)).toBe('keep')
    expect(decideRaceAt(n, line - 1e-9, racePresets.strict)).not.toBe('keep')
  })

  it('moves with the gains of late, and fades without any (STA-12)', () => {
    expect(updateTypicalGain(2, null)).toBeCloseTo(1.97, 12)
    expect(updateTypicalGain(2, 1)).toBeCloseTo(1.7, 12)
  })

  it('is none for what is no number (STA-12)', () => {
    expect(() => decideRaceAt(2, Number.NaN, three)).toThrow('z must be finite')
  })
})
