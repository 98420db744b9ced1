import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collect } from '../../../tests/collect.ts'
import { scaled } from '../../../tests/scale.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readJsonl } from './read-jsonl.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal

function file(content: string | Uint8Array): string {
  const path = join(folder(), 'rows.jsonl')
  writeFileSync(path, content)
  return path
}

const rowsOf = (content: string | Uint8Array, maxLineBytes?: number) =>
  collect(
    readJsonl(file(content), { name: 'rows.jsonl', signal, ...(maxLineBytes === undefined ? {} : { maxLineBytes }) }),
  )

const problemsOf = async (content: string | Uint8Array, maxLineBytes?: number) => {
  const error: unknown = await rowsOf(content, maxLineBytes).then(
    () => undefined,
    (cause) => cause,
  )
  return Reflect.get(Object(error), 'problems')
}

describe('readJsonl', () => {
  it.each([
    ['plain lines', '{"a":1}\n{"a":2}\n', [1, 2]],
    ['no last newline', '{"a":1}\n{"a":2}', [1, 2]],
    ['a byte order mark', '\uFEFF{"a":1}\n', [1]],
    ['Windows line ends', '{"a":1}\r\n{"a":2}\r\n', [1, 2]],
    ['blank lines', '\n  \n{"a":1}\n\t\r\n\n{"a":6}\n\n', [3, 6]],
    ['an empty file', '', []],
    ['only a mark', '\uFEFF', []],
  ])('reads %s (PLG-5)', async (_name, content, lines) => {
    const rows = await rowsOf(content)
    expect(rows.map(({ line }) => line)).toEqual(lines)
  })

  it('gives back what was written, whatever the texts and the size of lines (PLG-5)', async () => {
    const rows = fc.array(
      fc.dictionary(
        fc.string(),
        fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noDefaultInfinity: true, noNaN: true })),
      ),
    )
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom('\n', '\r\n', '\n\n'), async (values, end) => {
        const content = values.map((value) => JSON.stringify(value) + end).join('')
        const read = await rowsOf(content)
        expect(read.map(({ row }) => JSON.stringify(row))).toEqual(
          values.map((value) => JSON.stringify(JSON.parse(JSON.stringify(value)))),
        )
      }),
      { numRuns: scaled(50) },
    )
  })

  it('joins lines and characters that cross the edge of a buffer (PLG-5)', async () => {
    // 3-byte characters over several mebibytes: some of them, and some lines, lie across every edge.
    const texts = Array.from({ length: 40 }, (_, i) => '€'.repeat(50_000 + i))
    const read = await rowsOf(texts.map((text) => `${JSON.stringify({ text })}\n`).join(''))
    expect(read.map(({ row }) => row.text)).toEqual(texts)
  })

  it('tells every kind of fault at once, with line and column, and counts repeats (PLG-5)', async () => {
    const content = ['{"a":1}', '{"a":1', '[1]', '{"b":2}', '"text"', 'null', '[2]', '{"a": }'].join('\n')
    expect(await problemsOf(content)).toMatchObject([
      {
        code: 'DATA_INVALID',
        message: 'rows.jsonl:2: not valid JSON: it ends where , or } should follow',
        where: { file: 'rows.jsonl', line: 2, col: 7 },
      },
      { message: 'rows.jsonl:3: expected a mapping, got a list (and another row)', where: { line: 3, col: 1 } },
      { message: 'rows.jsonl:5: expected a mapping, got text', where: { line: 5, col: 1 } },
      { message: 'rows.jsonl:6: expected a mapping, got null', where: { line: 6, col: 1 } },
      { message: 'rows.jsonl:8: not valid JSON: expected a value, got "}"', where: { line: 8, col: 7 } },
    ])
  })

  it('hands out no row after the first fault (PLG-5)', async () => {
    const seen: unknown[] = []
    const read = async () => {
      for await (const { row } of readJsonl(file('{"a":1}\nx\n{"a":3}\n'), { signal })) seen.push(row)
    }
    await expect(read()).rejects.toMatchObject({ code: 'DATA_INVALID' })
    expect(seen).toEqual([{ a: 1 }])
  })

  it('stops after enough faults (PLG-5)', async () => {
    const problems = await problemsOf('x\n'.repeat(5_000))
    expect(problems).toHaveLength(1)
    expect(problems[0].message).toMatch(/and 999 or more other rows/)
  })

  it('finds bytes that are no UTF-8, by line and column (PLG-5)', async () => {
    const content = Buffer.concat([
      Buffer.from('{"a":"ok \uFFFD"}\n{"a":"\uFFFDx'),
      Buffer.from([0xff]),
      Buffer.from('"}\n'),
    ])
    expect(await problemsOf(content)).toMatchObject([
      { message: 'rows.jsonl:2: not valid UTF-8', where: { line: 2, col: 9 } },
    ])
  })

  it.each([
    ['UTF-16', Buffer.from([0xff, 0xfe, 0x7b, 0x00]), /is UTF-16/],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), /compressed with gzip/],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), /compressed with zstd/],
  ])('recognises %s (PLG-5)', async (_name, content, message) => {
    expect(await problemsOf(content)).toMatchObject([{ code: 'DATA_INVALID', message: expect.stringMatching(message) }])
  })

  it('refuses a line that is too long, wherever buffers end, and reads on (PLG-5)', async () => {
    const long = `{"a":"${'x'.repeat(3 * 1024 * 1024)}"}`
    expect(await problemsOf(`{"a":1}\n${long}\n[]\n`, 1_000)).toMatchObject([
      { message: 'rows.jsonl:2: the line is longer than 1000 bytes', where: { line: 2, col: 1 } },
      { message: 'rows.jsonl:3: expected a mapping, got a list' },
    ])
    const exact = `{"a":"${'x'.repeat(991)}"}`
    expect(await rowsOf(`${exact}\n`, 999)).toHaveLength(1)
    expect(await problemsOf(`${exact}\n`, 998)).toHaveLength(1)
  })

  it('refuses nesting that later code could not bear (PLG-5)', async () => {
    const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
    expect(await rowsOf(deep(99))).toHaveLength(1)
    expect(await problemsOf(deep(100))).toMatchObject([{ message: 'rows.jsonl:1: nested deeper than 100 levels' }])
    expect(await problemsOf(deep(200_000))).toHaveLength(1)
  })

  it.each([
    ['a missing file', (dir: string) => join(dir, 'nothing.jsonl'), /no such file/],
    ['a folder', (dir: string) => dir, /it is a folder/],
    ['a device', () => '/dev/zero', /it is a device or socket/],
  ])('says why %s cannot be read (PLG-5)', async (_name, pathIn, message) => {
    const dir = folder()
    mkdirSync(join(dir, 'x'))
    await expect(collect(readJsonl(pathIn(dir), { name: 'data/x.jsonl', signal }))).rejects.toMatchObject({
      code: 'DATA_READ',
      message: expect.stringMatching(message),
    })
  })

  it('stops at the signal, between two reads (PLG-1)', async () => {
    const controller = new AbortController()
    const path = file('{"a":1}\n'.repeat(300_000)) // more than two buffers
    let count = 0
    const read = async () => {
      for await (const _ of readJsonl(path, { signal: controller.signal }))
        if (++count === 10) controller.abort(new Error('enough'))
    }
    await expect(read()).rejects.toThrow('enough')
    expect(count).toBeLessThan(300_000)
  })
})
