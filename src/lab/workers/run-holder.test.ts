import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { identify } from '../../kernel/index.ts'
import { holderFile, holdRunDir } from './run-holder.ts'

const folder = temporaryFolders()
const never = new AbortController().signal

describe('the folder of a run', () => {
  it('has one holder, until it is given free (LAB-9)', async () => {
    const dir = join(folder(), 'run')
    const leave = await holdRunDir(dir, identify(), never)
    expect(existsSync(holderFile(dir))).toBe(true)
    leave()
    expect(existsSync(holderFile(dir))).toBe(false)
  })

  it('is free when its holder is gone, and waits for one that is about to go (LAB-9)', async () => {
    const dir = folder()
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    await once(other, 'spawn')
    await holdRunDir(dir, identify(other.pid), never)
    const waiting = holdRunDir(dir, identify(), never)
    other.kill('SIGKILL')
    await waiting
    expect(other.killed).toBe(true)
  })

  it('is not waited for after an abort (LAB-9)', async () => {
    const dir = folder()
    const parent = identify(process.ppid)
    await holdRunDir(dir, parent, never)
    const abort = new AbortController()
    const waiting = holdRunDir(dir, identify(), abort.signal)
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  it.each(['', '{', '{"pid":"x"}', '[]', '{"pid":-1,"start":""}'])(
    'is free after a torn or foreign note: %s (LAB-9)',
    async (text) => {
      const dir = folder()
      mkdirSync(dirname(holderFile(dir)), { recursive: true })
      writeFileSync(holderFile(dir), text)
      await expect(holdRunDir(dir, identify(), never)).resolves.toBeTypeOf('function')
    },
  )

  it('that cannot be written is a typed error (LAB-9)', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await expect(holdRunDir(join(file, 'run'), identify(), never)).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })
})
