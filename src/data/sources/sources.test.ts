import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { collect } from '../../../tests/collect.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { DataConfig, type DataSource } from '../../contracts/index.ts'
import { inMemorySource, jsonlSource, jsonSource } from './file-sources.ts'

const folder = temporaryFolders()

function rowsOf(
  source: DataSource,
  data: object,
  files: Record<string, string | Uint8Array> = {},
  params: object = {},
) {
  const dir = folder()
  mkdirSync(join(dir, 'data'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  const context = {
    ...pluginContext(source, params),
    data: DataConfig.parse(data),
    resolve: (path: string) => join(dir, path),
  }
  return collect(source.rows(context))
}

describe('jsonl', () => {
  it('yields rows with their places, named as they are written (PLG-5)', async () => {
    const rows = await rowsOf(jsonlSource, { path: 'data/t.jsonl' }, { 'data/t.jsonl': '{"a":1}\n\n{"a":2}\n' })
    expect(rows).toEqual([
      { row: { a: 1 }, place: 'data/t.jsonl:1' },
      { row: { a: 2 }, place: 'data/t.jsonl:3' },
    ])
  })

  it('limits lines as its params say (PLG-5)', async () => {
    const reading = rowsOf(
      jsonlSource,
      { path: 't.jsonl' },
      { 't.jsonl': '{"a":1}\n{"a":"longer"}\n' },
      { max_line_bytes: 8 },
    )
    await expect(reading).rejects.toMatchObject({ code: 'DATA_INVALID', where: { file: 't.jsonl', line: 2, col: 1 } })
  })
})

describe('json', () => {
  it('yields the elements of a list (PLG-5)', async () => {
    const rows = await rowsOf(jsonSource, { path: 't.json' }, { 't.json': '\uFEFF[{"a":1},\n {"a":2}]' })
    expect(rows).toEqual([
      { row: { a: 1 }, place: 't.json[0]' },
      { row: { a: 2 }, place: 't.json[1]' },
    ])
  })

  it.each([
    [
      'an object',
      '\n {"rows": []}',
      { message: 't.json: expected a list of objects, got a mapping', where: { line: 2, col: 2 } },
    ],
    [
      'broken JSON',
      '[{"a": 1},\n {"a" 2}]',
      { message: 't.json: not valid JSON: expected : after a key, got "2"', where: { line: 2, col: 7 } },
    ],
    [
      'JSON Lines',
      '{"a":1}\n{"a":2}\n',
      { message: 't.json: not valid JSON: there is more text after the value', where: { line: 2, col: 1 } },
    ],
    [
      'an empty file',
      '',
      { message: 't.json: not valid JSON: it ends where a value should follow', where: { line: 1, col: 1 } },
    ],
    [
      'a wrong element',
      '[{"a":1},\n  5, {"a":3}]',
      { message: 't.json[1]: expected a mapping, got a number', where: { line: 2, col: 3 } },
    ],
    [
      'deep nesting',
      `[{"a":${'['.repeat(5000)}${']'.repeat(5000)}}]`,
      { message: 't.json[0]: nested deeper than 100 levels' },
    ],
  ])('locates the fault of %s (PLG-5)', async (_name, content, problem) => {
    await expect(rowsOf(jsonSource, { path: 't.json' }, { 't.json': content })).rejects.toMatchObject({
      code: 'DATA_INVALID',
      ...problem,
    })
  })

  it('refuses bytes that are no UTF-8 (PLG-5)', async () => {
    const reading = rowsOf(jsonSource, { path: 't.json' }, { 't.json': Buffer.from([0x5b, 0xff, 0x5d]) })
    await expect(reading).rejects.toMatchObject({ code: 'DATA_INVALID', message: 't.json: not valid UTF-8' })
  })
})

describe('in_memory', () => {
  it('yields copies of the rows of the configuration (PLG-5)', async () => {
    const data = DataConfig.parse({ source_kind: 'in_memory', rows: [{ a: { b: 1 } }] })
    const context = { ...pluginContext(inMemorySource), data, resolve: (path: string) => path }
    const [first] = await collect(inMemorySource.rows(context))
    expect(first).toEqual({ row: { a: { b: 1 } }, place: 'rows[0]' })
    Object.assign(Object(first?.row.a), { b: 2 })
    expect(data.rows).toEqual([{ a: { b: 1 } }])
  })
})

describe('a source', () => {
  it.each([
    ['jsonl without a path', jsonlSource, {}, /data.path is missing/],
    ['json without a path', jsonSource, {}, /data.path is missing/],
    ['in_memory without rows', inMemorySource, {}, /data.rows is missing/],
    ['jsonl of a missing file', jsonlSource, { path: 'x.jsonl' }, /cannot read x.jsonl: no such file/],
    ['json of a missing file', jsonSource, { path: 'x.json' }, /cannot read x.json: no such file/],
    ['json of a folder', jsonSource, { path: 'data' }, /cannot read data: it is a folder/],
  ])('says what it lacks: %s (PLG-5)', async (_name, source, data, message) => {
    await expect(rowsOf(source, data)).rejects.toMatchObject({
      code: 'DATA_READ',
      message: expect.stringMatching(message),
    })
  })
})
