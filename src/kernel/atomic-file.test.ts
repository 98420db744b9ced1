import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onPrivateTmpfs, privateTmpfs } from '../../tests/private-tmpfs.ts'
import { scaled } from '../../tests/scale.ts'
import { startChild } from '../../tests/start-child.ts'
import { sweepTemporary, temporaryPath, writeFileAtomic } from './atomic-file.ts'
import { sha256 } from './hash.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'evsys-sweep-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const own = () => basename(temporaryPath(dir))
const ofPid = (pid: number) => own().replace(/-\d+-(?=[0-9a-f]{16}\.tmp$)/, `-${pid}-`)

describe('sweepTemporary', () => {
  it('removes what a dead process left, and nothing that lives (KER-11)', async () => {
    const child = startChild('rewrite-file', [join(dir, 'x'), 'x', '0', '1'])
    const { pid } = child.process
    if (pid === undefined) throw new Error('no child')
    await child.exit()
    const [dead, alive, init] = [ofPid(pid), own(), ofPid(1)]
    for (const name of [dead, alive, init]) writeFileSync(join(dir, name), '')
    expect(await sweepTemporary(dir)).toEqual([dead])
    expect(readdirSync(dir).sort()).toEqual([alive, init].sort())
  })

  it('leaves files of another machine alone for a day', async () => {
    const foreign = ofPid(4_000_000).replace(/^\.evsys-[0-9a-f]{8}/, '.evsys-00000000')
    writeFileSync(join(dir, foreign), '')
    const writtenMs = 1_700_000_000_000
    utimesSync(join(dir, foreign), writtenMs / 1000, writtenMs / 1000)
    const hour = 3_600_000
    expect(await sweepTemporary(dir, { nowMs: writtenMs + 23 * hour })).toEqual([])
    expect(await sweepTemporary(dir, { nowMs: writtenMs - 48 * hour })).toEqual([])
    expect(await sweepTemporary(dir, { nowMs: writtenMs + 25 * hour })).toEqual([foreign])
  })

  it('touches no file that only looks similar', async () => {
    const names = ['.evsys-x.tmp', 'notes.tmp', ofPid(4_000_000).slice(1), `${ofPid(4_000_000)}.bak`, ofPid(0)]
    for (const name of names) writeFileSync(join(dir, name), '')
    expect(await sweepTemporary(dir)).toEqual([])
    expect(readdirSync(dir).sort()).toEqual(names.sort())
  })

  it('finds nothing in a folder that does not exist, and complains about a file', async () => {
    expect(await sweepTemporary(join(dir, 'gone'))).toEqual([])
    writeFileSync(join(dir, 'file'), '')
    await expect(sweepTemporary(join(dir, 'file'))).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })
})

describe('temporaryPath', () => {
  it('is new every time and recognised by its name', () => {
    const names = Array.from({ length: 100 }, own)
    expect(new Set(names).size).toBe(100)
    for (const name of names) expect(name).toMatch(/^\.evsys-[0-9a-f]{8}-\d+-[0-9a-f]{16}\.tmp$/)
  })
})

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'evsys-atomic-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('writeFileAtomic', () => {
  it('writes text and bytes, and leaves nothing beside the file (KER-11)', async () => {
    const path = join(dir, 'a.txt')
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array()), fc.boolean(), async (data, sync) => {
        await writeFileAtomic(path, data, { sync })
        expect(await readFile(path)).toEqual(Buffer.from(data))
      }),
    )
    expect(readdirSync(dir)).toEqual(['a.txt'])
  })

  it('keeps the permissions of the file that it replaces', async () => {
    const path = join(dir, 'private')
    writeFileSync(path, 'old', { mode: 0o640 })
    await writeFileAtomic(path, 'new')
    expect(statSync(path).mode & 0o7777).toBe(0o640)
  })

  it('gives a new file what the umask leaves', async () => {
    const umask = process.umask()
    await writeFileAtomic(join(dir, 'plain'), '')
    expect(statSync(join(dir, 'plain')).mode & 0o777).toBe(0o666 & ~umask)
  })

  it('replaces what a symbolic link points to, not the link', async () => {
    mkdirSync(join(dir, 'real'))
    symlinkSync('real/target', join(dir, 'inner'))
    symlinkSync('inner', join(dir, 'link'))
    for (const text of ['created', 'replaced']) {
      await writeFileAtomic(join(dir, 'link'), text)
      expect(await readFile(join(dir, 'real/target'), 'utf8')).toBe(text)
    }
    expect(lstatSync(join(dir, 'link')).isSymbolicLink()).toBe(true)
  })

  it('can write a name as long as names may be', async () => {
    await writeFileAtomic(join(dir, 'n'.repeat(255)), 'x')
    expect(readdirSync(dir)).toEqual(['n'.repeat(255)])
  })

  it.each([
    ['in a folder that is missing', 'gone/file', 'no such file or folder'],
    ['below a file', 'file/below', 'a part of the path is a file, not a folder'],
    ['over a folder', 'folder', 'it is a folder'],
    ['through links in a loop', 'loop', 'its symbolic links form a loop'],
    ['over a device', 'null', 'it is a device or socket, not a file'],
    ['under a name that is too long', 'n'.repeat(256), 'the name is too long'],
  ])('says why it cannot write %s, and how to fix it (KER-11)', async (_where, name, reason) => {
    writeFileSync(join(dir, 'file'), 'x')
    mkdirSync(join(dir, 'folder'))
    symlinkSync('loop', join(dir, 'loop'))
    symlinkSync('/dev/null', join(dir, 'null'))
    const before = readdirSync(dir)
    const path = join(dir, name)
    await expect(writeFileAtomic(path, 'new')).rejects.toMatchObject({
      code: 'FILE_FAILED',
      message: `cannot write ${path}: ${reason}`,
      fix: expect.stringMatching(/\.$/),
    })
    expect(readdirSync(dir)).toEqual(before)
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  it('refuses a path with a NUL in it', async () => {
    await expect(writeFileAtomic(join(dir, 'a\0b'), 'x')).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })
})

describe('disasters', () => {
  it('kill -9 at any moment leaves a complete version, and a sweep removes the rest (KER-11)', async () => {
    const path = join(dir, 'state')
    for (let round = 0; round < scaled(6); round++) {
      await using child = startChild('rewrite-file', [path, `round${round}`, '1000000', '2000000'])
      for (let seen = 0; seen <= round % 4; seen++) await child.line()
      await child.kill()
      expect(await completeVersion(path)).toMatch(`round${round}`)
      await sweepTemporary(dir)
      expect(readdirSync(dir)).toEqual(['state'])
    }
  })

  it('two writers at once never mix their versions (KER-11)', async () => {
    const path = join(dir, 'state')
    await using left = startChild('rewrite-file', [path, 'left', '60', '200000'])
    await using right = startChild('rewrite-file', [path, 'right', '60', '200000'])
    await Promise.all([left.line(), right.line()])
    let running = true
    const both = Promise.all([left.exit(), right.exit()]).finally(() => {
      running = false
    })
    while (running) expect(await completeVersion(path)).toMatch(/^(left|right) /)
    expect(await both).toEqual([0, 0])
    expect(readdirSync(dir)).toEqual(['state'])
  })

  privateTmpfs.it('a full disk leaves the old file and nothing else (KER-11)', async () => {
    expect(await inVain('full disk', onPrivateTmpfs(dir, '256k'))).toEqual({
      record: {
        code: 'FILE_FAILED',
        message: `cannot write ${join(dir, 'file')}: no space is left on the disk`,
        fix: expect.stringContaining('free some space'),
      },
      system: 'ENOSPC',
      content: 'old',
      names: ['file'],
    })
  })

  privateTmpfs.it('a disk that became read-only leaves the old file (KER-11)', async () => {
    expect(await inVain('read-only disk', onPrivateTmpfs(dir, '256k'))).toMatchObject({
      record: { message: expect.stringContaining('the disk is mounted read-only') },
      system: 'EROFS',
      content: 'old',
    })
  })

  it('a folder without permission leaves the old file (KER-11)', async () => {
    expect(await inVain('forbidden folder')).toMatchObject({
      record: { message: expect.stringContaining('permission denied') },
      system: 'EACCES',
      content: 'old',
      names: ['file'],
    })
  })

  async function inVain(disaster: string, wrap: string[] = []): Promise<unknown> {
    await using child = startChild('write-in-vain', [dir, disaster], { wrap })
    const line = await child.line()
    expect(await child.exit()).toBe(0)
    return JSON.parse(line)
  }
})

/** The body of a version that `rewrite-file` wrote, after checking that no byte of it is missing. */
async function completeVersion(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  const body = text.slice(65)
  expect(text.slice(0, 65)).toBe(`${sha256(body)}\n`)
  return body.slice(0, 30)
}
