import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anytimeEvidence, scaleFreeEvidence } from './anytime-evidence.ts'
import reference from './fixtures/evidence.json' with { type: 'json' }

const gains = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 10 })
const known = reference.known.map(([differences, sigma, tau, log]) => ({
  differences: differences as number[], // the fixture’s rows: a list, two options, the expected logarithm
  sigma: Number(sigma),
  tau: Number(tau),
  log: Number(log),
}))
const unknown = reference.unknown.map(([differences, log]) => ({
  differences: differences as number[], // as above
  log: Number(log),
}))

describe('anytimeEvidence', () => {
  it.each(known)('of $differences at sigma $sigma is the integral of its definition (STA-8)', ({ log, ...options }) => {
    expect(anytimeEvidence(options).logEvidence).toBeCloseTo(log, 11)
  })

  it('is the formula of the half-normal mixture (STA-8)', () => {
    // n = 4, S = 4: 2 / sqrt(5) exp(16 / 10) Phi(4 / sqrt(5)), with Phi(1.788854) = 0.963181.
    const { evidence } = anytimeEvidence({ differences: [1, 1, 1, 1], sigma: 1 })
    expect(evidence).toBeCloseTo((2 / Math.sqrt(5)) * Math.exp(1.6) * 0.963181, 4)
  })

  it('remembers the strongest moment in p, which never rises (STA-8)', () => {
    fc.assert(
      fc.property(gains, (differences) => {
        for (const evidence of [anytimeEvidence({ differences, sigma: 1 }), scaleFreeEvidence(differences)]) {
          expect(evidence.p).toBeLessThanOrEqual(1)
          expect(evidence.p).toBeGreaterThanOrEqual(0)
          expect(evidence.p).toBeLessThanOrEqual(Math.exp(-evidence.logEvidence) + 1e-12)
        }
        const before = anytimeEvidence({ differences: differences.slice(0, -1), sigma: 1 }).p
        expect(anytimeEvidence({ differences, sigma: 1 }).p).toBeLessThanOrEqual(before)
      }),
    )
  })

  it('stays a number at any size of effect (STA-8)', () => {
    expect(anytimeEvidence({ differences: [1e150], sigma: 1 })).toMatchObject({ evidence: Number.MAX_VALUE, p: 0 })
    expect(anytimeEvidence({ differences: [-1e150], sigma: 1 }).evidence).toBeCloseTo(0, 12)
    // Far below zero E falls as 2 / (z sqrt(2 pi (1 + n))), z = 1e9 / sqrt(2).
    expect(anytimeEvidence({ differences: [-1e9], sigma: 1 }).evidence * 1e9).toBeCloseTo(
      Math.SQRT2 / Math.sqrt(Math.PI),
      9,
    )
  })

  it('is one before anything was seen (STA-8)', () => {
    const nothing = { logEvidence: 0, evidence: 1, p: 1 }
    expect(anytimeEvidence({ differences: [], sigma: 1 })).toEqual(nothing)
    expect(scaleFreeEvidence([])).toEqual(nothing)
  })

  it('refuses noise that is none, and NaN (STA-8)', () => {
    expect(() => anytimeEvidence({ differences: [1], sigma: 0 })).toThrow(/sigma/)
    expect(() => anytimeEvidence({ differences: [Number.NaN], sigma: 1 })).toThrow(RangeError)
    expect(() => anytimeEvidence({ differences: [1], sigma: 1, tau: -1 })).toThrow(/tau/)
    expect(() => scaleFreeEvidence([Number.NaN])).toThrow(RangeError)
  })
})

describe('scaleFreeEvidence', () => {
  it.each(unknown)('of $differences is the ratio of t densities of its definition (STA-8)', ({ differences, log }) => {
    expect(scaleFreeEvidence(differences).logEvidence).toBeCloseTo(log, 10)
  })

  it('does not know the unit (STA-8)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -99, max: 99 })),
        fc.constantFrom(1e-200, 1e-3, 1e100),
        (differences, unit) => {
          const scaled = scaleFreeEvidence(differences.map((d) => unit * d))
          expect(scaled.logEvidence).toBeCloseTo(scaleFreeEvidence(differences).logEvidence, 9)
        },
      ),
    )
  })

  it('has little to say of few differences, however equal (STA-8)', () => {
    const most = (n: number) => scaleFreeEvidence(new Array(n).fill(0.1)).evidence
    expect([1, 2, 3].map((n) => most(n) < 8)).toEqual([true, true, true])
    expect(most(5)).toBeGreaterThan(20)
  })

  it('takes zeros as no evidence, and grows from differences that nearly are (STA-8)', () => {
    expect(scaleFreeEvidence([0, 0, 0]).evidence).toBeCloseTo(0.5, 12)
    expect(scaleFreeEvidence([5e-324, 0, 1e-160, 1e300]).evidence).toBeGreaterThan(0.5)
    expect(scaleFreeEvidence([1e-170, 2e-170, 3]).evidence).toBeGreaterThan(0.5)
  })
})
