import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { needs } from '../../tests/needs.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { readForeignFile, writeForeignFile } from './foreign-files.ts'

const folder = temporaryFolders()
const pipes = needs('mkfifo', () => {
  execFileSync('mkfifo', [join(folder(), 'pipe')])
  return true
})

describe('a file in a folder of foreign code', () => {
  it('is read where it is a regular file that is not too long (KER-430)', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'a'), 'hello')
    expect(String(await readForeignFile(join(dir, 'a'), 5))).toBe('hello')
    await expect(readForeignFile(join(dir, 'a'), 4)).rejects.toMatchObject({
      code: 'FILE_FAILED',
      message: expect.stringContaining('longer than 4'),
    })
    symlinkSync('a', join(dir, 'link'))
    mkdirSync(join(dir, 'folder'))
    writeFileSync(join(dir, 'sparse'), '')
    truncateSync(join(dir, 'sparse'), 2 ** 36)
    for (const name of ['link', 'folder', 'sparse', 'missing'])
      await expect(readForeignFile(join(dir, name), 1000)).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })

  pipes.it('is not waited for where it is a pipe (KER-430)', async () => {
    const dir = folder()
    execFileSync('mkfifo', [join(dir, 'pipe')])
    await expect(readForeignFile(join(dir, 'pipe'), 1000)).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })

  it('is written where it belongs, whatever link or folder stands there (KER-430)', async () => {
    const [dir, outside] = [folder(), folder()]
    writeFileSync(join(outside, 'secret'), 'kept')
    symlinkSync(outside, join(dir, 'logs'))
    await writeForeignFile(dir, ['logs', 'conclusion.md'], 'ours')
    expect(readFileSync(join(dir, 'logs/conclusion.md'), 'utf8')).toBe('ours')
    symlinkSync(join(outside, 'secret'), join(dir, 'result.json'))
    await writeForeignFile(dir, ['result.json'], 'ours')
    mkdirSync(join(dir, 'taken/by/folders'), { recursive: true })
    await writeForeignFile(dir, ['taken'], 'ours')
    writeFileSync(join(dir, 'file'), 'theirs')
    await writeForeignFile(dir, ['file', 'inner'], 'ours')
    symlinkSync('nowhere', join(dir, 'dangling'))
    await writeForeignFile(dir, ['dangling', 'inner'], 'ours')
    expect(lstatSync(join(dir, 'result.json')).isFile()).toBe(true)
    expect(readdirSync(outside)).toEqual(['secret'])
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('kept')
    expect(readdirSync(dir).sort()).toEqual(['dangling', 'file', 'logs', 'result.json', 'taken'])
  })

  it('lands in no other folder while links are put in its way (KER-430)', async () => {
    const [dir, outside] = [folder(), folder()]
    const { rename, rm, symlink } = await import('node:fs/promises')
    let isOver = false
    const racing = (async () => {
      for (let n = 0; !isOver; n++) {
        await symlink(outside, join(dir, `link-${n}`)).catch(() => {})
        await rename(join(dir, `link-${n}`), join(dir, 'logs')).catch(() => {})
        await rm(join(dir, 'logs'), { recursive: true, force: true }).catch(() => {})
        await turn()
      }
    })()
    for (let n = 0; n < 200; n++) await writeForeignFile(dir, ['logs', 'conclusion.md'], 'ours').catch(() => {}) // it may lose the race
    isOver = true
    await racing
    expect(readdirSync(outside)).toEqual([])
  })
})
