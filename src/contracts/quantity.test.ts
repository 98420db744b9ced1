import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Budget, Duration, durationSeconds } from './quantity.ts'

const secondsPer = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

describe('a duration', () => {
  it.each([
    [90, 90],
    [0.25, 0.25],
    ['90s', 90],
    ['30m', 1800],
    ['1h30m', 5400],
    ['1.5h', 5400],
    ['2d', 172_800],
    ['1w', 604_800],
    ['9ms', 0.009],
    ['1s500ms', 1.5],
    ['1d2h3m4s', 93_784],
  ])('of %j is %d seconds (CFG-11)', (written, seconds) => {
    expect(durationSeconds(Duration.parse(written))).toBe(seconds)
  })

  it.each([
    '',
    '90',
    'h',
    '1 h',
    '1h 30m',
    '-5m',
    '+5m',
    '1H',
    '1min',
    '.5h',
    '5.h',
    '1e3s',
    '٣s',
    '5m\n',
    '0s',
    '0h0m',
    `${'9'.repeat(400)}h`,
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    true,
    ['1h'],
  ])('is not written %j (CFG-11)', (written) => {
    expect(Duration.safeParse(written).success).toBe(false)
  })

  it('is the sum of its parts, in any order (CFG-11)', () => {
    const part = fc.record({
      amount: fc.integer({ min: 1, max: 9999 }),
      unit: fc.constantFrom('s', 'm', 'h', 'd', 'w'),
    })
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.map(({ amount, unit }) => `${amount}${unit}`).join('')
        const sum = parts.reduce((total, { amount, unit }) => total + amount * secondsPer[unit], 0)
        expect(durationSeconds(Duration.parse(text))).toBe(sum)
      }),
    )
  })

  it('of n milliseconds is the number nearest to n / 1000 (CFG-11)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (n) => {
        expect(durationSeconds(`${n}ms`)).toBe(n / 1000)
      }),
    )
  })

  it('is finite and longer than nothing, whatever was accepted (CFG-11)', () => {
    const almost = fc.string({ unit: fc.constantFrom('0', '1', '9', '.', 'm', 's', 'h', 'd', 'w', ' '), maxLength: 12 })
    fc.assert(
      fc.property(
        almost.filter((text) => Duration.safeParse(text).success),
        (text) => {
          expect(durationSeconds(text)).toBeGreaterThan(0)
          expect(Number.isFinite(durationSeconds(text))).toBe(true)
        },
      ),
    )
  })

  it('says how it is written when it is wrong (CFG-11)', () => {
    expect(JSON.stringify(Duration.safeParse('soon').error?.issues)).toContain('1h30m')
  })
})

describe('a budget', () => {
  it('caps steps, tokens, dollars, time and accelerators (CFG-11)', () => {
    const budget = { steps: 10, tokens: 1000, usd: 0.5, wall: '30m', gpu_seconds: 1.5 }
    expect(Budget.parse(budget)).toEqual(budget)
    expect(Budget.parse({})).toEqual({})
  })

  it.each([
    { usd: 0 },
    { usd: -1 },
    { steps: 1.5 },
    { tokens: 0 },
    { wall: '0s' },
    { gpu_seconds: '1' },
    { dollars: 1 },
  ])('refuses %j (CFG-11)', (budget) => {
    expect(Budget.safeParse(budget).success).toBe(false)
  })
})
