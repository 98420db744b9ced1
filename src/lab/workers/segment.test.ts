import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { onPrivateTmpfs, privateTmpfs } from '../../../tests/private-tmpfs.ts'
import { startChild } from '../../../tests/start-child.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { Item } from '../../contracts/index.ts'
import { openSegmentWriter } from '../../runner/worker/segment-writer.ts'
import { readSegment, type SegmentItem, type SegmentOptions } from './segment-reader.ts'

const folder = temporaryFolders()
const file = () => join(folder(), 'segments', '1.jsonl')

const notice = (seq: number, text = `item ${seq}`, run_id = 'run_1'): Item => ({
  type: 'notice',
  seq,
  at: '2026-01-01T00:00:00.000Z',
  run_id,
  text,
})

async function write(path: string, items: readonly Item[], from = 1): Promise<void> {
  const writer = await openSegmentWriter(path)
  await Promise.all(items.map((item, i) => writer.write(from + i, item)))
  await writer.close()
}

async function readAll(path: string, from = 1, options: SegmentOptions = {}): Promise<SegmentItem[]> {
  const reader = readSegment(path, from, options)
  const items: SegmentItem[] = []
  try {
    for (;;) {
      const some = await reader.next(3)
      if (some.length === 0) return items
      items.push(...some)
    }
  } finally {
    await reader.close()
  }
}

describe('a segment', () => {
  it('gives back what was written, whatever stands in the texts (LAB-1)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 20 }), async (texts) => {
        const path = file()
        const items = texts.map((text, i) => notice(i + 1, text))
        await write(path, items)
        expect(await readAll(path)).toEqual(items)
      }),
    )
  })

  it('is read from any number on (LAB-1)', async () => {
    const path = file()
    const items = Array.from({ length: 10 }, (_, i) => notice(i + 1))
    await write(path, items)
    expect(await readAll(path, 8)).toEqual(items.slice(7))
    expect(await readAll(path, 11)).toEqual([])
  })

  it('is read while it grows; what is not there yet comes later (LAB-1)', async () => {
    const path = file()
    const reader = readSegment(path, 1)
    expect(await reader.next(10)).toEqual([]) // no file yet
    await write(path, [notice(1)])
    expect(await reader.next(10)).toEqual([notice(1)])
    const whole = JSON.stringify({ n: 2, item: notice(2) })
    appendFileSync(path, whole.slice(0, 20))
    expect(await reader.next(10)).toEqual([])
    appendFileSync(path, `${whole.slice(20)}\n`)
    expect(await reader.next(10)).toEqual([notice(2)])
    await reader.close()
  })

  it('survives a kill at any byte: whole lines count, the torn one is ignored and then replaced (LAB-1)', async () => {
    const path = file()
    const items = [notice(1, 'ä'.repeat(20)), notice(2), notice(3)]
    await write(path, items)
    const bytes = readFileSync(path)
    for (let size = 0; size <= bytes.length; size += 7) {
      const torn = file()
      mkdirSync(dirname(torn), { recursive: true })
      writeFileSync(torn, bytes.subarray(0, size))
      const kept = bytes.subarray(0, size).filter((byte) => byte === 10).length
      expect(await readAll(torn)).toEqual(items.slice(0, kept))
      await write(torn, items.slice(kept), kept + 1)
      expect(await readAll(torn)).toEqual(items)
    }
  })

  it('keeps lines that were written from many places in the order of the calls (LAB-1)', async () => {
    const path = file()
    const writer = await openSegmentWriter(path)
    const items = Array.from({ length: 500 }, (_, i) => notice(i + 1))
    await Promise.all(items.map(async (item, i) => writer.write(i + 1, item)))
    await writer.close()
    expect(await readAll(path)).toEqual(items)
  })

  it.each([
    ['a gap', [1, 3], 1, /item 3 stands where 2 belongs/],
    ['a number twice', [1, 1], 1, /item 1 stands where 2 belongs/],
    ['a missing beginning', [4, 5], 2, /items 2 to 3 are missing/],
  ])('refuses %s (LAB-1)', async (_name, numbers, from, message) => {
    const path = file()
    const writer = await openSegmentWriter(path)
    for (const n of numbers) await writer.write(n, notice(n))
    await writer.close()
    await expect(readAll(path, from)).rejects.toMatchObject({ code: 'DATA_INVALID', message })
  })

  it.each([
    ['no JSON', '{'],
    ['no item', JSON.stringify({ n: 1, item: { type: 'nonsense' } })],
    [
      'a metric that is no number',
      JSON.stringify({ n: 1, item: { ...notice(1), type: 'step.finished', step: 0, metrics: { loss: null } } }),
    ],
    ['an item of another run', JSON.stringify({ n: 1, item: notice(1, 'x', 'run_2') })],
    [
      'an event of the whole experiment',
      JSON.stringify({
        n: 1,
        item: { type: 'notice', seq: 1, at: '2026-01-01T00:00:00.000Z', experiment_id: 'e', text: '' },
      }),
    ],
    ['a line without end', 'x'.repeat(10_000)],
  ])('refuses %s, with the line (LAB-1)', async (_name, line) => {
    const path = file()
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${line}\n`)
    const reading = readAll(path, 1, { runId: 'run_1', longestLineBytes: 5_000 })
    await expect(reading).rejects.toMatchObject({ code: 'DATA_INVALID', where: { file: path, line: 1 } })
  })

  it('does not keep a line without end in memory (LAB-1)', async () => {
    const path = file()
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, Buffer.alloc(3_000_000, 120))
    await expect(readAll(path, 1, { longestLineBytes: 100_000 })).rejects.toMatchObject({ code: 'DATA_INVALID' })
  })

  privateTmpfs.it(
    'on a full disk is a typed error, for this and every later item; what was written stays (LAB-1)',
    async () => {
      const dir = folder()
      await using child = startChild('segment-in-vain', [dir], { wrap: onPrivateTmpfs(dir, '256k') })
      const { codes, written, read } = JSON.parse(await child.line())
      expect(codes).toEqual(Array(4).fill('FILE_FAILED'))
      expect(read).toBe(written)
      expect(written).toBeGreaterThan(0)
    },
  )

  it('in a folder that cannot be made is a typed error (LAB-1)', async () => {
    const path = join(folder(), 'segments')
    writeFileSync(path, '')
    expect(statSync(path).isFile()).toBe(true)
    await expect(openSegmentWriter(join(path, '1.jsonl'))).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })
})
