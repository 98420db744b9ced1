import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collect } from '../../../tests/collect.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { CsvReader, type ReadCsvOptions, readCsv } from './read-csv.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const read = (text: string | Uint8Array, options: Partial<ReadCsvOptions> = {}) => {
  const path = join(folder(), 't.csv')
  writeFileSync(path, text)
  return collect(readCsv(path, { name: 't.csv', signal, ...options }))
}
const quoted = (field: string) => (/[",\r\n]/.test(field) || field === '' ? `"${field.replaceAll('"', '""')}"` : field)

describe('CSV', () => {
  it('is read by RFC 4180: quotes, separators and line breaks inside quotes, either line end, a byte order mark (DATA-5)', async () => {
    const text = '\uFEFFa,b\r\n1,"x, ""y""\nz"\r\n\r\n2,\n3,""'
    expect(await read(text)).toEqual([
      { row: { a: '1', b: 'x, "y"\nz' }, line: 2 },
      { row: { a: '2', b: '' }, line: 5 },
      { row: { a: '3', b: '' }, line: 6 },
    ])
  })

  it('gives back any fields that were written, however the text is cut (DATA-5)', () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é') })
    const table = fc.array(fc.array(field, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(table, fc.integer({ min: 1, max: 7 }), (rows, size) => {
        const text = rows.map((fields) => fields.map(quoted).join(',')).join('\r\n')
        const reader = new CsvReader({ delimiter: ',', maxChars: 10_000 })
        const found = []
        for (let at = 0; at < text.length; at += size) found.push(...reader.push(text.slice(at, at + size)))
        found.push(...reader.end())
        expect(reader.fault).toBeUndefined()
        expect(found.map(({ fields }) => fields)).toEqual(rows)
      }),
    )
  })

  it('takes other separators, names of columns and types (DATA-5)', async () => {
    const types = { n: 'number', ok: 'boolean', tags: 'json' } as const
    expect(await read('n;ok;tags\n1.5;TRUE;"[1,2]"\n;;\n', { delimiter: ';', types })).toEqual([
      { row: { n: 1.5, ok: true, tags: [1, 2] }, line: 2 },
      { row: { n: null, ok: null, tags: null }, line: 3 },
    ])
    expect(await read('1\t2\n', { delimiter: '\t', columns: ['a', 'b'] })).toEqual([
      { row: { a: '1', b: '2' }, line: 1 },
    ])
  })

  it.each([
    [
      'an unclosed quote',
      'a,b\n1,"x\ny\n',
      { message: 't.csv:2: a quote is opened here and never closed', where: { line: 2, col: 3 } },
    ],
    [
      'a quote inside a field',
      'a,b\n1,x"y\n',
      { message: expect.stringContaining('quote inside'), where: { line: 2, col: 4 } },
    ],
    [
      'text after a quote',
      'a,b\n"1"x,2\n',
      { message: expect.stringContaining('after the closing quote'), where: { line: 2, col: 4 } },
    ],
    ['two columns of one name', 'a,b,a\n1,2,3\n', { message: 't.csv:1: columns 1 and 3 are both called "a"' }],
    ['a column without a name', 'a,\n1,2\n', { message: 't.csv:1: column 2 has no name' }],
    [
      'too few fields',
      'a,b\n1,2\n3\n',
      { message: 't.csv:3: the row has 1 fields, and the header has 2', where: { line: 3, col: 1 } },
    ],
    ['an empty file', '', { message: 't.csv:1: the file is empty' }],
    [
      'bytes that are no UTF-8',
      Buffer.from([97, 10, 0xff, 10]),
      { message: expect.stringContaining('not valid UTF-8') },
    ],
  ])('locates %s (DATA-5)', async (_name, text, problem) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'DATA_INVALID', ...problem })
  })

  it('tells all faulty rows at once, and wrong values of a type (DATA-5)', async () => {
    const failure = await read('n\nx\n1\ny,z\n', { types: { n: 'number' } }).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      problems: [
        { message: 't.csv:2: "n" is no number: "x"' },
        { message: 't.csv:4: the row has 2 fields, and the header has 1' },
      ],
    })
    await expect(read('n\n1\n', { types: { m: 'number' } })).rejects.toThrow('names the column "m"')
  })

  it('bounds the length of a record (DATA-5)', async () => {
    await expect(read(`a\n"${'x'.repeat(5000)}`, { maxRecordChars: 1000 })).rejects.toMatchObject({
      message: 't.csv:2: the record is longer than 1000 characters',
      where: { line: 2 },
    })
  })
})
