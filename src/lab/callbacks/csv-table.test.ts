import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine, parseCsv } from './csv-table.ts'

describe('a table', () => {
  it('comes back as it was written, whatever its cells hold (LAB-43)', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', '1') })
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1 })
    fc.assert(
      fc.property(table, fc.constantFrom(',', ';', '\t'), (records, delimiter) => {
        const text = records.map((cells) => csvLine(cells, delimiter)).join('')
        const { header, rows } = parseCsv(text, delimiter)
        expect([header, ...rows]).toEqual(records)
      }),
    )
  })

  it('loses a last line that was cut off, and no other (LAB-43)', () => {
    expect(parseCsv('step,loss\n0,1\n1,0.', ',')).toEqual({ header: ['step', 'loss'], rows: [['0', '1']] })
    expect(parseCsv('', ',')).toEqual({ header: ['step'], rows: [] })
  })
})
