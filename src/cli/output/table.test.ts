import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textWidth } from '../../kernel/index.ts'
import { table, wrap } from './table.ts'

describe('table', () => {
  it('makes columns as wide as their content (CLI-5)', () => {
    const rows = [
      ['sft', 'Supervised fine-tuning.', 'built-in'],
      ['focal_sft', 'Focal loss.', 'src/plugins/focal.ts'],
    ]
    expect(table(rows, { head: ['KIND', 'SUMMARY', 'ORIGIN'], indent: 2 })).toBe(
      [
        '  KIND       SUMMARY                  ORIGIN',
        '  sft        Supervised fine-tuning.  built-in',
        '  focal_sft  Focal loss.              src/plugins/focal.ts',
      ].join('\n'),
    )
  })

  it('wraps the widest column by words in a narrow terminal (CLI-5)', () => {
    const rows = [
      ['dedupe', 'Keeps the first row for each value of one field.'],
      ['x', 'Short.'],
    ]
    expect(table(rows, { width: 30 })).toBe(
      ['dedupe  Keeps the first row', '        for each value of one', '        field.', 'x       Short.'].join('\n'),
    )
  })

  it('counts wide characters as two columns (CLI-5)', () => {
    expect(
      table([
        ['漢字', 'a'],
        ['abc', 'b'],
        ['👍🏽', 'c'],
      ]),
    ).toBe('漢字  a\nabc   b\n👍🏽    c')
  })

  it('shows control characters instead of sending them (CLI-5)', () => {
    expect(table([['a\u001b[31mb', 'c\nd']])).toBe('a␛[31mb  c␊d')
  })

  it('lays out rows of different lengths and none at all (CLI-5)', () => {
    expect(table([['a', 'b'], ['c']])).toBe('a  b\nc')
    expect(table([])).toBe('')
    expect(table([[]])).toBe('')
  })

  it('paints the titles alone (CLI-5)', () => {
    expect(table([['a']], { head: ['H'], paintHead: (text) => `<${text}>` })).toBe('<H>\na')
  })

  it('never exceeds the width it is given, down to columns that cannot be read (CLI-5)', () => {
    const row = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.integer({ min: 40, max: 120 }), (rows, width) => {
        for (const line of table(rows, { width }).split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(width)
      }),
    )
  })

  it('keeps every word of a text that it wraps (CLI-5)', () => {
    const text = fc
      .array(fc.stringMatching(/^[a-z漢字]{1,30}$/), { minLength: 1, maxLength: 10 })
      .map((words) => words.join(' '))
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 60 }), (words, width) => {
        const lines = wrap(words, width)
        expect(lines.join('').replaceAll(' ', '')).toBe(words.replaceAll(' ', ''))
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width)
      }),
    )
  })
})
