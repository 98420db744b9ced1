import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onPrivateTmpfs, privateTmpfs } from '../../tests/private-tmpfs.ts'
import { inFullLane, scaled } from '../../tests/scale.ts'
import { startChild } from '../../tests/start-child.ts'
import { blobPlace, putBlob } from './blobs.ts'
import { sha256 } from './hash.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'evsys-blobs-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

async function* chunks(...parts: readonly (string | Uint8Array)[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? new TextEncoder().encode(part) : part
}
const put = async (...parts: readonly (string | Uint8Array)[]) => (await putBlob(dir, chunks(...parts), 'me')).hash
const read = (hash: string) => readFileSync(blobPlace(dir, hash).path)
const ownersOf = (hash: string) =>
  readdirSync(join(dir, 'pins', hash)).map((name) => readFileSync(join(dir, 'pins', hash, name), 'utf8'))

describe('putBlob', () => {
  it('keeps what was put, under its hash (KER-12)', async () => {
    const source = fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(source, async (parts) => {
        const whole = Buffer.concat(parts)
        const stored = await putBlob(dir, chunks(...parts), 'me')
        expect(stored).toEqual({ hash: sha256(whole), sizeBytes: whole.length })
        expect(await put(whole)).toBe(stored.hash)
        expect(read(stored.hash).equals(whole)).toBe(true)
      }),
      { numRuns: scaled(20) },
    )
  })

  it('keeps one copy, under <dir>/ab/abcdef... (KER-12)', async () => {
    const [a = '', again, b = ''] = await Promise.all(['x', 'x', 'y'].map((text) => put(text)))
    expect(a).toBe(again)
    expect(readdirSync(dir).sort()).toEqual([a.slice(0, 2), b.slice(0, 2), 'pins'].sort())
    expect(readdirSync(join(dir, a.slice(0, 2)))).toEqual([a])
  })

  it('leaves nothing behind when the source fails', async () => {
    const source = (async function* () {
      yield new TextEncoder().encode('half')
      throw new Error('source')
    })()
    await expect(putBlob(dir, source, 'me')).rejects.toThrow('source')
    expect(readdirSync(dir)).toEqual([])
  })

  it('heals a damaged blob that is put again (KER-12)', async () => {
    const hash = await put('original')
    writeFileSync(blobPlace(dir, hash).path, 'tampered')
    await put('original')
    expect(read(hash).toString()).toBe('original')
  })

  it('names its owners, who may be called anything (KER-12)', async () => {
    const owners = ['', '../..', 'dataset:a/b', 'a'.repeat(500), 'ü\n']
    for (const owner of [...owners, 'dataset:a/b']) await putBlob(dir, chunks('shared'), owner)
    expect(
      ownersOf(sha256('shared'))
        .map((text) => JSON.parse(text))
        .sort(),
    ).toEqual(owners.sort())
  })

  it('kill -9 of writers loses nothing that was acknowledged (KER-12)', async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < (inFullLane ? 20 : 2); round++) {
      const writers = ['a', 'b'].map((name) => startChild('blob-writer', [dir, name]))
      for (const writer of writers) for (let i = 0; i < 3 + round; i++) acknowledged.push(await writer.line())
      await Promise.all(writers.map((writer) => writer.kill()))
    }
    expect(acknowledged.length).toBeGreaterThan(10)
    for (const hash of acknowledged) {
      expect(sha256(read(hash))).toBe(hash)
      expect(ownersOf(hash)).toHaveLength(1)
    }
  })

  privateTmpfs.it('a full disk fails the put and harms no other blob (KER-12)', async () => {
    await using child = startChild('put-in-vain', [dir], { wrap: onPrivateTmpfs(dir, '1m') })
    expect(JSON.parse(await child.line())).toEqual({
      problems: [
        {
          code: 'FILE_FAILED',
          message: expect.stringContaining('no space is left on the disk'),
          fix: expect.stringContaining('free some space'),
        },
      ],
      small: true,
      temporary: [],
    })
  })
})
