import { describe, expect, it } from 'vitest'
import { bytesText, countText, durationText, numberText, usdText } from './quantity-text.ts'

describe('quantities', () => {
  it.each([
    [0, '0 s'],
    [0.0421, '42 ms'],
    [1, '1 s'],
    [9.87, '9.9 s'],
    [59.4, '59 s'],
    [59.6, '1 min'],
    [61, '1 min 1 s'],
    [3599.6, '1 h'],
    [3600, '1 h'],
    [5400, '1 h 30 min'],
    [86_399, '1 d'],
    [100_000, '1 d 4 h'],
  ])('%d seconds are %s (CLI-9)', (seconds, text) => expect(durationText(seconds)).toBe(text))

  it.each([
    [0, '0'],
    [0.1 + 0.2, '0.3'],
    [-0.000695, '-0.000695'],
    [1e-7, '1.00e-7'],
    [123_456, '123500'],
    [1e12, '1.00e+12'],
  ])('%d is %s (CLI-14)', (value, text) => expect(numberText(value)).toBe(text))

  it.each([
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1 kB'],
    [219_511, '220 kB'],
    [1.5e9, '1.5 GB'],
    [2e16, '20000 TB'],
  ])('%d are %s (CLI-20)', (bytes, text) => expect(bytesText(bytes)).toBe(text))

  it('counts and money read as people write them (CLI-9)', () => {
    expect([countText(1, 'run'), countText(1200, 'run')]).toEqual(['1 run', '1,200 runs'])
    expect([usdText(0), usdText(0.0012), usdText(1.5)]).toEqual(['$0', '$0.0012', '$1.50'])
  })
})
