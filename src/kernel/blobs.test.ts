import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onPrivateTmpfs, privateTmpfs } from '../../tests/private-tmpfs.ts'
import { inFullLane, scaled } from '../../tests/scale.ts'
import { type Child, startChild } from '../../tests/start-child.ts'
import { type BlobFolder, openBlobs } from './blobs.ts'
import { manualClock } from './clock.ts'
import { sha256 } from './hash.ts'

let dir = ''
let blobs: BlobFolder
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'evsys-blobs-'))
  blobs = await openBlobs(dir)
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const bytes = (text: string) => new TextEncoder().encode(text)
const place = (hash: string) => join(dir, hash.slice(0, 2), hash)
const inFuture = (ms: number) => manualClock(Date.now() + ms)
const day = 86_400_000

async function read(hash: string, from: BlobFolder = blobs): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of from.open(hash)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function hashes(): Promise<string[]> {
  const found: string[] = []
  for await (const { hash } of blobs.list()) found.push(hash)
  return found
}

describe('put and open', () => {
  it('give back what was put, under its hash (KER-12)', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(chunks, async (parts) => {
        const whole = Buffer.concat(parts)
        const hash = await blobs.put(
          (async function* () {
            yield* parts
          })(),
        )
        expect(hash).toBe(sha256(whole))
        expect(await blobs.put(whole)).toBe(hash)
        expect(await read(hash)).toBe(whole.toString())
        expect(await blobs.size(hash)).toBe(whole.length)
      }),
      { numRuns: scaled(20) },
    )
  })

  it('stream more than one chunk', async () => {
    const whole = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
    const hash = await blobs.put(whole)
    const chunks: Uint8Array[] = []
    for await (const chunk of blobs.open(hash)) chunks.push(chunk)
    expect(chunks.length).toBeGreaterThan(1)
    expect(Buffer.concat(chunks).equals(whole)).toBe(true)
  })

  it('keep one copy, under <dir>/ab/abcdef..., and list it (KER-12)', async () => {
    const [a, again, b] = await Promise.all(['x', 'x', 'y'].map((text) => blobs.put(bytes(text))))
    expect(a).toBe(again)
    expect(await hashes()).toEqual([a, b].sort())
    expect(existsSync(place(a ?? ''))).toBe(true)
    expect(readdirSync(dir).sort()).toEqual([a?.slice(0, 2), b?.slice(0, 2)].sort())
  })

  it('leave nothing behind when the source fails', async () => {
    const source = (async function* () {
      yield bytes('half')
      throw new Error('source')
    })()
    await expect(blobs.put(source)).rejects.toThrow('source')
    expect(readdirSync(dir)).toEqual([])
  })

  it('refuse what is not bytes', async () => {
    // A plugin in JavaScript may yield anything.
    const source = (async function* () {
      yield 'text'
    })() as unknown as AsyncIterable<Uint8Array>
    await expect(blobs.put(source)).rejects.toMatchObject({ code: 'DATA_INVALID' })
    expect(readdirSync(dir)).toEqual([])
  })

  it('say so when a blob is missing', async () => {
    const hash = sha256('never put')
    expect(await blobs.has(hash)).toBe(false)
    for (const attempt of [() => read(hash), () => blobs.size(hash), () => blobs.pin(hash, 'me')]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'BLOB_MISSING', message: `there is no blob ${hash}` })
    }
    expect(await blobs.pins(hash)).toEqual([])
    expect(existsSync(join(dir, 'pins'))).toBe(false)
  })

  it.each(['', '..', '../../etc/passwd', 'A'.repeat(64), `${'a'.repeat(64)}\n`, 'a'.repeat(63), '0/'.repeat(32)])(
    'refuse the address %j (KER-12)',
    async (address) => {
      const refused = { code: 'BLOB_MISSING', message: expect.stringContaining('is not the address of a blob') }
      await expect(read(address)).rejects.toMatchObject(refused)
      await expect((async () => blobs.pin(address, 'me'))()).rejects.toMatchObject(refused)
      await expect((async () => blobs.unpin(address, 'me'))()).rejects.toMatchObject(refused)
      await expect((async () => blobs.has(address))()).rejects.toMatchObject(refused)
    },
  )

  it.each([
    ['flipped', (path: string) => writeFileSync(path, 'tampered')],
    ['lost', (path: string) => truncateSync(path, 3)],
    ['added', (path: string) => appendFileSync(path, '!')],
  ])('notice bytes that were %s, and heal when the blob is put again (KER-12)', async (_how, damage) => {
    const hash = await blobs.put(bytes('original'))
    damage(place(hash))
    await expect(read(hash)).rejects.toMatchObject({
      code: 'BLOB_CORRUPT',
      message: expect.stringContaining(`blob ${hash} is damaged`),
      fix: expect.stringContaining(place(hash)),
    })
    await blobs.put(bytes('original'))
    expect(await read(hash)).toBe('original')
  })
})

describe('pins', () => {
  it('belong to owners, who may be called anything (KER-12)', async () => {
    const hash = await blobs.put(bytes('x'))
    const special = fc.constantFrom(
      '',
      '.',
      '..',
      'a/b',
      '../../x',
      '\0',
      'A',
      'a',
      'Ä',
      '\ud800',
      '\ud801',
      'con',
      'x'.repeat(5_000),
    )
    const owners = fc.uniqueArray(fc.oneof(special, fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(owners, async (names) => {
        for (const name of names) await blobs.pin(hash, name)
        expect(await blobs.pins(hash)).toEqual(names.toSorted())
        expect((await blobs.collect({ graceMs: 0, clock: inFuture(day) })).kept).toBe(1)
        for (const name of names) await blobs.unpin(hash, name)
        expect(await blobs.pins(hash)).toEqual([])
      }),
      { numRuns: scaled(10) },
    )
    expect(readdirSync(dir).sort()).toEqual([hash.slice(0, 2), 'pins'].sort())
    expect(readdirSync(join(dir, 'pins'))).toEqual([])
  })

  it('are made once and removed once, however often that is asked', async () => {
    const hash = await blobs.put(bytes('x'))
    await Promise.all([blobs.pin(hash, 'me'), blobs.pin(hash, 'me'), blobs.pin(hash, 'me')])
    expect(await blobs.pins(hash)).toEqual(['me'])
    await blobs.unpin(hash, 'me')
    await blobs.unpin(hash, 'me')
    expect(await blobs.pins(hash)).toEqual([])
  })

  it('count even when their file is not ours: better kept than lost', async () => {
    const hash = await blobs.put(bytes('x'), { owner: 'me' })
    writeFileSync(join(dir, 'pins', hash, 'stray'), 'not json')
    await blobs.unpin(hash, 'me')
    expect(await blobs.pins(hash)).toEqual(['stray'])
    expect(await blobs.collect({ graceMs: 0, clock: inFuture(day) })).toMatchObject({ deleted: 0, kept: 1 })
  })
})

describe('collect', () => {
  it('deletes what is neither pinned nor young, and says what it freed (KER-12)', async () => {
    const pinned = await blobs.put(bytes('pinned'), { owner: 'run_1' })
    const [old, young] = [await blobs.put(bytes('old old')), await blobs.put(bytes('young'))]
    utimesSync(place(old), 0, 0)
    utimesSync(place(pinned), 0, 0)
    expect(await blobs.collect({ graceMs: day })).toEqual({ deleted: 1, freedBytes: 7, kept: 2 })
    expect(await hashes()).toEqual([pinned, young].sort())
    expect(await blobs.collect({ graceMs: day, clock: inFuture(2 * day) })).toEqual({
      deleted: 1,
      freedBytes: 5,
      kept: 1,
    })
    await blobs.unpin(pinned, 'run_1')
    expect(await blobs.collect({ graceMs: day })).toEqual({ deleted: 1, freedBytes: 6, kept: 0 })
  })

  it('keeps blobs from the future: the clock was set back (KER-12)', async () => {
    await blobs.put(bytes('x'))
    expect(await blobs.collect({ graceMs: 0, clock: inFuture(-day) })).toEqual({ deleted: 0, freedBytes: 0, kept: 1 })
  })

  it('finds nothing in an empty folder, and refuses a negative grace', async () => {
    expect(await blobs.collect({ graceMs: 0 })).toEqual({ deleted: 0, freedBytes: 0, kept: 0 })
    await expect(blobs.collect({ graceMs: -1 })).rejects.toThrow(RangeError)
  })

  it('touches no file that is not a blob', async () => {
    const strange = [join(dir, 'README'), join(dir, 'ab')]
    for (const path of strange) writeFileSync(path, 'mine')
    await blobs.collect({ graceMs: 0, clock: inFuture(day) })
    expect(strange.every((path) => existsSync(path))).toBe(true)
  })

  describe('that was killed after it had moved a blob away', () => {
    const dying = (hash: string) => `${place(hash)}.0123456789abcdef.dying`

    it.each<[string, (hash: string) => Promise<unknown>]>([
      ['open', (hash) => read(hash)],
      ['has', async (hash) => expect(await blobs.has(hash)).toBe(true)],
      ['size', async (hash) => expect(await blobs.size(hash)).toBe(1)],
      ['pin', (hash) => blobs.pin(hash, 'me')],
      ['list', async (hash) => expect(await hashes()).toEqual([hash])],
    ])('%s brings it back (KER-12)', async (_call, use) => {
      const hash = await blobs.put(bytes('x'))
      utimesSync(place(hash), 0, 0)
      renameSync(place(hash), dying(hash))
      await use(hash)
      expect([existsSync(place(hash)), existsSync(dying(hash))]).toEqual([true, false])
      // Who asked for it has the whole grace to pin it.
      expect((await blobs.collect({ graceMs: day })).deleted).toBe(0)
    })

    it('the next one decides again: pinned and young come back, the rest goes (KER-12)', async () => {
      const pinned = await blobs.put(bytes('pinned'), { owner: 'me' })
      const young = await blobs.put(bytes('young'))
      const old = await blobs.put(bytes('old'))
      for (const hash of [pinned, old]) utimesSync(place(hash), 0, 0)
      for (const hash of [pinned, young, old]) renameSync(place(hash), dying(hash))
      expect(await blobs.collect({ graceMs: day })).toEqual({ deleted: 1, freedBytes: 3, kept: 2 })
      expect(await hashes()).toEqual([pinned, young].sort())
      expect(readdirSync(dir, { recursive: true }).filter((name) => name.includes('dying'))).toEqual([])
    })

    it('a put beside it stays young when the older one comes back (KER-12)', async () => {
      const hash = await blobs.put(bytes('x'))
      utimesSync(place(hash), 0, 0)
      renameSync(place(hash), dying(hash))
      await blobs.put(bytes('x'))
      expect(await blobs.collect({ graceMs: day })).toMatchObject({ deleted: 1, kept: 1 })
      expect(await read(hash)).toBe('x')
    })
  })
})

// Ends a hang, nothing else: four or five processes share what cores there are.
const patienceMs = inFullLane ? 1_800_000 : 120_000

describe('many processes', { timeout: patienceMs }, () => {
  it.each([
    ['put, then pin', 0],
    ['put with owner', 0],
    ['put again', day],
  ])('%s: no collection takes what is in use (KER-12)', async (usage, graceMs) => {
    await using collectors = started([0, 1].map(() => startChild('blob-collector', [dir, String(graceMs)])))
    await using users = started(
      ['a', 'b', 'c'].map((name) => startChild('blob-user', [dir, name, String(scaled(15)), usage])),
    )
    for (const child of [...collectors.children, ...users.children]) expect(await child.line()).toBe('ready')
    expect(await Promise.all(users.children.map((child) => child.line()))).toEqual(['done', 'done', 'done'])
  })

  it('kill -9 of writers and collectors loses nothing that was acknowledged (KER-12)', async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < (inFullLane ? 20 : 2); round++) {
      await using collector = startChild('blob-collector', [dir, '0'])
      await using writers = started(['a', 'b'].map((name) => startChild('blob-writer', [dir, name])))
      for (const writer of writers.children) for (let i = 0; i < 3 + round; i++) acknowledged.push(await writer.line())
      await Promise.all([collector.kill(), ...writers.children.map((writer) => writer.kill())])
    }
    expect(acknowledged.length).toBeGreaterThan(10)
    for (const hash of acknowledged) await read(hash) // throws when missing or damaged
    await blobs.collect({ graceMs: 0, clock: inFuture(day) })
    const left = await hashes()
    expect(left).toEqual(expect.arrayContaining(acknowledged))
    for (const hash of left) expect(sha256(await read(hash))).toBe(hash)
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    expect(files.filter((name) => name.endsWith('.tmp') || name.endsWith('.dying'))).toEqual([])
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

function started(children: Child[]) {
  return {
    children,
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map((child) => child.kill()))
    },
  }
}
