import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { collect } from '../../../tests/collect.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readParquet } from './read-parquet.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()

function write(bytes: ArrayBuffer | Uint8Array | string) {
  const path = join(folder(), 't.parquet')
  writeFileSync(path, typeof bytes === 'string' ? bytes : new Uint8Array(bytes))
  return path
}
const read = (path: string) => collect(readParquet(path, { name: 't.parquet', signal }))

describe('Parquet', () => {
  it('gives rows as JSON with their places, over all row groups (DATA-6)', async () => {
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'text', data: ['one', 'two', 'three'], type: 'STRING' },
        { name: 'n', data: [1n, 2n, 2n ** 60n], type: 'INT64' },
        { name: 'at', data: [new Date(0), null, new Date(1000)], type: 'TIMESTAMP', nullable: true },
        {
          name: 'messages',
          data: [[{ role: 'user', content: 'hi' }], [], [{ role: 'user', content: 'ho' }]],
          type: 'JSON',
        },
      ],
      rowGroupSize: 2,
    })
    expect(await read(write(bytes))).toEqual([
      {
        row: { text: 'one', n: 1, at: '1970-01-01T00:00:00.000Z', messages: [{ role: 'user', content: 'hi' }] },
        place: 't.parquet[0]',
      },
      { row: { text: 'two', n: 2, at: null, messages: [] }, place: 't.parquet[1]' },
      {
        row: {
          text: 'three',
          n: '1152921504606846976',
          at: '1970-01-01T00:00:01.000Z',
          messages: [{ role: 'user', content: 'ho' }],
        },
        place: 't.parquet[2]',
      },
    ])
  })

  it('is a typed error where the file is none, cut short or damaged (DATA-6)', async () => {
    const bytes = new Uint8Array(
      parquetWriteBuffer({ columnData: [{ name: 'text', data: ['a'.repeat(100), 'b'], type: 'STRING' }] }),
    )
    const broken = bytes.slice()
    broken.fill(0xff, 4, 60)
    for (const each of ['', 'PAR1', '{"a":1}\n', bytes.slice(0, -5), bytes.slice(0, 20), broken]) {
      await expect(read(write(each))).rejects.toMatchObject({
        code: 'DATA_INVALID',
        message: expect.stringMatching(/^t\.parquet cannot be read as Parquet: /),
      })
    }
    await expect(read('/nowhere/x.parquet')).rejects.toMatchObject({ code: 'DATA_READ' })
  })
})
