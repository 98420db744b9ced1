import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closest, editDistance, suggest } from './suggest.ts'

const algorithms = ['sft', 'rl', 'sdft', 'focal_sft']

describe('suggest', () => {
  it('names what was meant and what there is (KER-6)', () => {
    expect(suggest('focal_sf', algorithms, { more: '`evsys list algorithms` describes them.' })).toBe(
      'did you mean "focal_sft"? Known: focal_sft, rl, sdft, sft. `evsys list algorithms` describes them.',
    )
    expect(suggest('zebra', algorithms)).toBe('Known: focal_sft, rl, sdft, sft.')
    expect(suggest('x', [])).toBe('None is known.')
  })

  it('bounds the list', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `kind_${String(i).padStart(4, '0')}`)
    expect(suggest('zebra', many)).toMatch(/^Known: kind_0000, .*kind_0011 and 4988 more\.$/)
  })
})

describe('closest', () => {
  it.each([
    ['focal-sft', 'focal_sft'],
    ['FocalSFT', 'focal_sft'],
    ['fcoal_sft', 'focal_sft'],
    ['sfft', 'sdft'],
    ['stf', 'sft'],
    ['RL', 'rl'],
    ['foc', 'focal_sft'],
  ])('takes %s for %s (KER-6)', (word, meant) => {
    expect(closest(word, algorithms)).toBe(meant)
  })

  it.each(['', ' ', 'x', 'zebra', 'q'.repeat(1_000_000), 'optimizer'])('guesses nothing for %.20s', (word) => {
    expect(closest(word, algorithms)).toBeUndefined()
  })

  it('does not guess between two words with one beginning', () => {
    expect(closest('temp', ['temperature_start', 'temperature_final'])).toBeUndefined()
  })

  it('finds a known word, whatever its case and separators', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}(_[a-z0-9]{1,6}){0,2}$/)
    fc.assert(
      fc.property(word, fc.array(word), (wanted, others) => {
        const typed = wanted.toUpperCase().replaceAll('_', '-')
        const found = closest(typed, [...others, wanted])
        expect(found?.replaceAll('_', '')).toBe(wanted.replaceAll('_', ''))
      }),
    )
  })

  it('does not depend on the order of the known words', () => {
    const words = fc.uniqueArray(fc.stringMatching(/^[a-d]{1,6}$/), { maxLength: 8 })
    fc.assert(
      fc.property(fc.stringMatching(/^[a-d]{1,6}$/), words, (word, known) => {
        expect(closest(word, known.toReversed())).toBe(closest(word, known))
      }),
    )
  })
})

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
    ['ab', 'ba', 1],
    ['ca', 'abc', 2],
  ])('of %s and %s is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance)
  })

  it('is a metric', () => {
    const text = fc.stringMatching(/^[abc]{0,7}$/)
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a))
        expect(editDistance(a, b) === 0).toBe(a === b)
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c))
      }),
    )
  })
})
