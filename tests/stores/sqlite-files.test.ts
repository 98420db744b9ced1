import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import { loadDriver } from '../../src/store/sqlite/open-database.ts'
import { onPrivateTmpfs, privateTmpfs } from '../private-tmpfs.ts'
import { recordSample } from '../sample-plan.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

async function fill(file: string): Promise<void> {
  await using store = await openStore(file)
  for (let i = 0; i < 20; i++) await recordSample(store, { hypothesis: 'x '.repeat(5_000), seeds: [1, 2, 3] })
}

describe('a file that is no record', () => {
  it.each([
    ['text', 'Not a database at all, and longer than the head of one. '.repeat(20)],
    ['a database with its head torn off', '\0'.repeat(8192)],
  ])('is refused: %s (STO-13)', async (_what, content) => {
    const file = join(folder(), 'evsys.db')
    writeFileSync(file, content)
    await expect(openStore(file)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining(file),
      fix: expect.stringContaining('evsys db backup'),
      retryable: false,
    })
    expect(readFileSync(file, 'utf8')).toBe(content)
  })

  it('is refused untouched when it is the database of another program (STO-13)', async () => {
    const file = join(folder(), 'evsys.db')
    const Database = await loadDriver()
    const other = new Database(file)
    other.exec('create table run (theirs text); insert into run values (1)')
    other.close()
    const before = readFileSync(file)
    await expect(openStore(file)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('another program'),
    })
    expect(readFileSync(file)).toEqual(before)
  })

  it('is refused when it is a folder, or below a file (STO-13)', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'evsys.db'))
    writeFileSync(join(dir, 'file'), '')
    await expect(openStore(join(dir, 'evsys.db'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      fix: expect.any(String),
    })
    await expect(openStore(join(dir, 'file', 'evsys.db'))).rejects.toMatchObject({
      code: 'FILE_FAILED',
      fix: expect.any(String),
    })
  })
})

describe('a damaged record', () => {
  it.each([
    ['cut short', (file: string) => truncateSync(file, 40_000)],
    ['overwritten in the middle', (file: string) => scribble(file, 8_192, 200_000)],
  ])('fails with a typed error that names the way out: %s (STO-13)', async (_what, damage) => {
    const file = join(folder(), 'evsys.db')
    await fill(file)
    damage(file)
    await expect(
      (async () => {
        await using store = await openStore(file)
        await store.experiments({ limit: 99 })
        await store.experiments({ text: 'x', limit: 99 })
        await recordSample(store)
      })(),
    ).rejects.toMatchObject({ code: 'STORE_FAILED', fix: expect.stringContaining('evsys db backup'), retryable: false })
  })

  it('tells which row does not fit (STO-13)', async () => {
    const file = join(folder(), 'evsys.db')
    await fill(file)
    const Database = await loadDriver()
    const raw = new Database(file)
    raw.exec("update run set payload = '{' where seed = 1; update experiment set status = 'gone'")
    raw.close()
    await using store = await openStore(file)
    const damaged = { code: 'STORE_FAILED', fix: expect.stringContaining('evsys db backup') }
    await expect(store.experiments({ limit: 1 })).rejects.toMatchObject({
      ...damaged,
      message: expect.stringMatching(/status of experiment exp_/),
    })
    await expect(store.findRun('run_')).rejects.toMatchObject({ code: 'STORE_AMBIGUOUS' })
  })
})

describe('a disk', () => {
  privateTmpfs.it(
    'that is full is a typed error, and nothing acknowledged is lost (STO-13, STO-12)',
    async () => {
      const dir = folder()
      await using child = startChild('fill-disk', [dir], { wrap: onPrivateTmpfs(dir, '6m') })
      const report = JSON.parse(await child.line())
      expect(report).toEqual({
        errors: expect.arrayContaining(['the record DIR/evsys.db: no space is left on the disk']),
        told: [],
        lost: [],
        sound: [{ integrity_check: 'ok' }],
        left: [],
      })
      expect(await child.exit()).toBe(0)
    },
    120_000,
  )

  it('that may not be written is a typed error (STO-13)', async () => {
    const dir = folder()
    await fill(join(dir, 'evsys.db'))
    chmodSync(dir, 0o755)
    await using child = startChild('open-as-nobody', [join(dir, 'evsys.db')])
    expect(JSON.parse(await child.line())).toMatchObject({
      code: 'STORE_FAILED',
      fix: expect.stringContaining('write'),
    })
  })
})

function scribble(file: string, from: number, length: number): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, from)
  closeSync(descriptor)
}
