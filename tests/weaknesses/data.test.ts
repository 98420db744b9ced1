// What the peer's data pipeline lacks: "data mixing/splits/dedup/leak checks; streaming", and rows that are neither cached nor usable
// without the server.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLeakIndex, findLeaks, openNamedDatasets, openRows } from '../../src/data/index.ts'
import { collect } from '../collect.ts'
import { needs } from '../needs.ts'
import { rowRequest } from '../row-request.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const proc = needs('/proc', () => process.platform === 'linux' || 'this is no Linux')
const line = (row: object) => `${JSON.stringify(row)}\n`
const chat = { kind: 'jsonl_to_chat', params: { user_template: '{q}', assistant_template: '{a}' } }

function project(files: Readonly<Record<string, string>>) {
  const dir = folder()
  mkdirSync(join(dir, 'data'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, 'data', name), text)
  const open = (data: object, cacheDir?: string) =>
    openRows(
      rowRequest(data, { format: 'chat_messages', projectDir: dir, ...(cacheDir === undefined ? {} : { cacheDir }) }),
    )
  return { dir, open }
}

describe('data', () => {
  it('mixing, splits, dedup: they are transforms, in the order in which they are written (DATA-9, DATA-10, DATA-11)', async () => {
    const rows = (from: string, n: number) =>
      Array.from({ length: n }, (_, i) =>
        line({ q: `${from} asks question ${i % (n / 2)}`, a: from, group: i % 10 }),
      ).join('')
    const { dir, open } = project({ 'chat.jsonl': rows('chat', 400), 'code.jsonl': rows('code', 200) })
    const transforms = (part: string) => [
      { kind: 'dedupe', params: { key: 'q' } },
      { kind: 'split', params: { part, train: 0.5, val: 0.5, key: 'group' } },
      { kind: 'mix', params: { key: 'from', weights: { chat: 1, code: 1 } } },
      chat,
    ]
    const data = (part: string) => ({
      source_kind: 'folder',
      path: join(dir, 'data'),
      params: { label: 'from' },
      transforms: transforms(part),
    })
    const texts = async (part: string) =>
      (await collect((await open(data(part))).rows())).map(({ row }) => String(row.messages[0]?.content))
    const [train, val] = [await texts('train'), await texts('val')]
    for (const part of [train, val]) {
      expect(part.length).toBeGreaterThan(20)
      expect(part.filter((text) => text.startsWith('chat'))).toHaveLength(part.length / 2)
      expect(new Set(part).size).toBe(part.length)
    }
    expect(train.filter((text) => val.includes(text))).toEqual([])
  })

  it('leak checks: training rows that stand in a benchmark are found (DATA-3)', async () => {
    const { dir, open } = project({ 'train.jsonl': line({ q: 'What is 2 + 2?', a: '4' }) + line({ q: 'new', a: 'x' }) })
    const index = createLeakIndex([{ task_id: 'sum', instruction: 'what is 2+2' }])
    const rows = (await open({ path: join(dir, 'data/train.jsonl'), transforms: [chat] })).rows()
    const found = await findLeaks(rows, new Map([['test', index]]), { signal })
    expect(found.get('test')).toMatchObject({ exact: 1, pairs: [{ place: 'data/train.jsonl:1', task_id: 'sum' }] })
  })

  proc.it('streaming: a file is read as far as rows are asked for (DATA-1)', async () => {
    const { dir, open } = project({ 'train.jsonl': line({ q: 'x'.repeat(1000), a: 'y' }).repeat(30_000) })
    const read = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
    const before = read()
    const rows = (await open({ path: join(dir, 'data/train.jsonl'), transforms: [chat] }))
      .rows()
      [Symbol.asyncIterator]()
    for (let i = 0; i < 100; i++) await rows.next()
    expect(read() - before).toBeLessThan(6_000_000) // of thirty million
    await rows.return?.()
  })

  it('cache: rows are transformed once; a stored dataset needs nothing but the project (DATA-1, DATA-8)', async () => {
    const { dir, open } = project({ 'train.jsonl': line({ q: 'one', a: '1' }) })
    const datasets = openNamedDatasets(dir)
    await datasets.add('sums', join(dir, 'data/train.jsonl'), { signal })
    const cacheDir = join(dir, 'cache')
    const data = { dataset_name: 'sums', transforms: [chat] }
    expect((await open(data, cacheDir)).isHit).toBe(false)
    writeFileSync(join(dir, 'data/train.jsonl'), 'changed')
    const again = await open(data, cacheDir)
    expect([again.isHit, (await collect(again.rows())).length]).toEqual([true, 1])
  })
})
