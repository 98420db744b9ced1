import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromStored, rowsFromStored, toStored } from './stored-values.ts'

const units = fc.oneof(
  fc.constantFrom('\0', '\uffff', '\ud800', '\udc00', '0', 'f', '😀'),
  fc.string({ unit: 'binary', maxLength: 1 }),
)
const anyText = fc.array(units).map((parts) => parts.join(''))

describe('stored text', () => {
  it('comes back as it was, whatever it is (STO-16)', () => {
    fc.assert(fc.property(anyText, (text) => fromStored(toStored(text)) === text))
  })

  it('is what every database takes: whole characters, no NUL (STO-16)', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = toStored(text)
        expect(stored).not.toContain('\0')
        expect(Buffer.from(stored, 'utf8').toString('utf8')).toBe(stored)
      }),
    )
  })

  it('of ordinary characters is itself (STO-16)', () => {
    for (const text of ['', 'loss', 'größe 😀 学習', 'tab\tnew\nline', '\ufffd', '\u2028'])
      expect(toStored(text)).toBe(text)
  })

  it('comes back in all columns of rows; what is no text is left alone (STO-16)', () => {
    const rows = [
      { a: toStored('x\0'), b: 1, c: null },
      { a: 'y', b: 2, c: toStored('\ud800') },
    ]
    expect(rowsFromStored(rows)).toEqual([
      { a: 'x\0', b: 1, c: null },
      { a: 'y', b: 2, c: '\ud800' },
    ])
  })
})
