import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { collect } from '../../../tests/collect.ts'
import { needs } from '../../../tests/needs.ts'
import { type RowRequestOptions, rowRequest } from '../../../tests/row-request.ts'
import { startChild } from '../../../tests/start-child.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { defineDataSource, defineTransform } from '../../kernel/index.ts'
import { isDamaged, openRows } from './open-rows.ts'

const folder = temporaryFolders()
const line = (text: string) => `${JSON.stringify({ messages: [{ role: 'user', content: text }] })}\n`
const proc = needs('/proc', () => process.platform === 'linux' || 'this is no Linux')

function project(text = line('one') + line('two') + line('three')) {
  const dir = folder()
  mkdirSync(join(dir, 'data'))
  const path = join(dir, 'data', 'train.jsonl')
  writeFileSync(path, text)
  const cacheDir = join(dir, 'cache')
  const open = (data: object = {}, options: Partial<RowRequestOptions<'chat_messages'>> = {}) =>
    openRows(rowRequest({ path, ...data }, { format: 'chat_messages', cacheDir, projectDir: dir, ...options }))
  return { dir, path, cacheDir, open }
}

const contents = async (opened: Awaited<ReturnType<typeof openRows<'chat_messages'>>>) =>
  (await collect(opened.rows())).map(({ row, place }) => `${place} ${row.messages[0]?.content}`)

describe('cached rows', () => {
  it('are made once, and come back with their places, count, hash and lineage (DATA-1)', async () => {
    const { open } = project()
    const data = { transforms: [{ kind: 'filter', params: { field: 'messages.0.content', matches: '^t' } }] }
    const first = await open(data)
    const second = await open(data)
    expect([first.isHit, second.isHit, first.key === second.key]).toEqual([false, true, true])
    const rows = ['data/train.jsonl:2 two', 'data/train.jsonl:3 three']
    expect([await contents(first), await contents(second)]).toEqual([rows, rows])
    expect(second.manifest()).toMatchObject({
      format: 'chat_messages',
      rows: 2,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      lineage: {
        source: { kind: 'jsonl', rows: 3, identity: { name: 'data/train.jsonl' } },
        transforms: [{ kind: 'filter', params: { matches: '^t' }, rows: 2 }],
      },
      before: [{ place: 'data/train.jsonl:1' }, {}, {}],
      after: [{ place: 'data/train.jsonl:2' }, {}],
    })
  })

  it('ask a source for its identity alone when they are there (DATA-1)', async () => {
    let reads = 0
    const counting = defineDataSource({
      kind: 'counting',
      summary: 'Counts.',
      params: z.strictObject({ version: z.int() }),
      async *rows() {
        reads++
        yield { row: { messages: [{ role: 'user', content: 'hi' }] }, place: 'here' }
      },
      identity: async ({ params }) => ({ version: params.version }),
    })
    const { open } = project()
    const at = (version: number) => open({ source_kind: 'counting', params: { version } }, { plugins: [counting] })
    for (const version of [1, 1, 1, 2, 1]) expect(await contents(await at(version))).toEqual(['here hi'])
    expect(reads).toBe(2)
  })

  proc.it('read no byte of the raw data on a hit (DATA-1)', async () => {
    const { open } = project(line('x'.repeat(1000)).repeat(4000))
    const data = { transforms: [{ kind: 'sample', params: { n: 2 } }] }
    await contents(await open(data))
    const read = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
    const before = read()
    expect(await contents(await open(data))).toHaveLength(2)
    expect(read() - before).toBeLessThan(400_000) // the file has four million; other threads of the test read a little
  })

  it('are made anew when the file, the transforms, their code or a seed that they draw from changed (DATA-1)', async () => {
    const { open, path } = project()
    const keys = new Set<string | undefined>()
    const see = async (...args: Parameters<typeof open>) => {
      const { key, isHit } = await open(...args)
      const isNew = !keys.has(key)
      keys.add(key)
      expect(isHit).toBe(!isNew)
      return isNew
    }
    const sample = { transforms: [{ kind: 'sample', params: { n: 2 } }] }
    expect(await see()).toBe(true)
    expect(await see({}, { seed: 2 })).toBe(false) // nothing was drawn
    expect(await see(sample)).toBe(true)
    expect(await see(sample, { seed: 2 })).toBe(true)
    expect(await see(sample, { seed: 2 })).toBe(false)
    expect(await see({ transforms: [{ kind: 'identity' }] })).toBe(true)
    expect(await see({}, { codeHash: () => 'next version' })).toBe(true)
    appendFileSync(path, line('four'))
    expect(await see()).toBe(true)
  })

  it('notice an edit that kept size and time of the file (DATA-1)', async () => {
    const { open, path } = project()
    await contents(await open())
    const { atime, mtime } = statSync(path)
    writeFileSync(path, line('ONE') + line('two') + line('three'))
    utimesSync(path, atime, mtime)
    expect(await contents(await open())).toContain('data/train.jsonl:1 ONE')
  })

  it('keep nothing of a source that cannot be recognised, nor of data with a fault (DATA-1)', async () => {
    const nameless = defineDataSource({
      kind: 'nameless',
      summary: 'Has no identity.',
      params: z.strictObject({}),
      async *rows() {
        yield { row: { messages: [{ role: 'user', content: 'hi' }] }, place: 'here' }
      },
    })
    const { open, cacheDir, path } = project()
    const opened = await open({ source_kind: 'nameless' }, { plugins: [nameless] })
    expect([opened.key, await contents(opened), opened.manifest()?.rows]).toEqual([undefined, ['here hi'], 1])
    appendFileSync(path, '{"messages": 5}\n')
    await expect(open()).rejects.toMatchObject({ code: 'DATA_INVALID', where: { file: 'data/train.jsonl', line: 4 } })
    expect(entriesOf(cacheDir)).toEqual([])
  })

  it('of a source that yields them without their place are an error of it (USE-311)', async () => {
    const bare = defineDataSource({
      kind: 'bare',
      summary: 'Yields the row alone.',
      params: z.strictObject({}),
      async *rows() {
        yield { messages: [] } as never // as a plugin in JavaScript may
      },
    })
    const opened = await project().open({ source_kind: 'bare' }, { plugins: [bare] })
    await expect(collect(opened.rows())).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'data source "bare": what it yields is no { row, place }',
    })
  })

  it('are not used when the entry is short, and removed when it was altered (DATA-2)', async () => {
    const { open, cacheDir } = project()
    const { key = '' } = await open()
    const file = join(cacheDir, key, 'rows.jsonl')
    const whole = readFileSync(file, 'utf8')
    writeFileSync(file, whole.slice(0, -20))
    expect((await open()).isHit).toBe(false)
    expect(readFileSync(file, 'utf8')).toBe(whole)
    writeFileSync(file, whole.replace('two', 'owt'))
    const altered = await open()
    const failure = await contents(altered).catch((error: unknown) => error)
    expect(isDamaged(failure)).toBe(true)
    expect(failure).toMatchObject({ code: 'DATA_READ', fix: 'start again: it is made anew.' })
    expect(await contents(await open())).toContain('data/train.jsonl:2 two')
  })

  it('are made anew where an entry does not say what its bytes were (DATA-2)', async () => {
    const { open, cacheDir } = project()
    const { key = '' } = await open()
    const file = join(cacheDir, key, 'manifest.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    delete manifest.body.file_sha256
    writeFileSync(file, JSON.stringify(manifest))
    expect((await open()).isHit).toBe(false)
    expect((await open()).isHit).toBe(true)
    expect(await contents(await open())).toHaveLength(3)
  })

  it('of a process that was killed in the middle are never used, and swept away (DATA-2)', async () => {
    const { cacheDir, path } = project(line('x'.repeat(1000)).repeat(3000))
    await using child = startChild('row-cache-writer', [cacheDir, path, '2900'])
    expect(await child.line()).toBe('writing')
    expect(await child.line()).toBe('half')
    const [part = ''] = readdirSync(cacheDir)
    expect(statSync(join(cacheDir, part, 'rows.jsonl')).size).toBeGreaterThan(1_000_000)
    await child.kill()
    expect(entriesOf(cacheDir)).toEqual([])
    await using again = startChild('row-cache-writer', [cacheDir, path])
    expect(await again.line()).toBe('writing')
    expect(await again.line()).toMatch(/^done [0-9a-f]{64}$/)
    expect(readdirSync(cacheDir)).toEqual(entriesOf(cacheDir))
    expect(entriesOf(cacheDir)).toHaveLength(1)
  })

  it('of two writers at once are one entry, whole for both (DATA-2)', async () => {
    const { open, cacheDir } = project(line('x').repeat(2000))
    const slow = defineTransform({
      kind: 'slow',
      summary: 'Lets others go first.',
      params: z.strictObject({}),
      async *run(rows) {
        for await (const row of rows) {
          await Promise.resolve()
          yield row
        }
      },
    })
    const opened = await Promise.all(
      Array.from({ length: 4 }, () => open({ transforms: [{ kind: 'slow' }] }, { plugins: [slow] })),
    )
    for (const each of opened) expect(await contents(each)).toHaveLength(2000)
    expect(new Set(opened.map(({ key }) => key)).size).toBe(1)
    expect(readdirSync(cacheDir)).toEqual([opened[0]?.key])
  })
})

function entriesOf(cacheDir: string): string[] {
  return readdirSync(cacheDir).filter((name) => !name.startsWith('.'))
}
