import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { identify, isAlive } from './process-identity.ts'

describe('the identity of a process', () => {
  it('holds while it runs and no longer (KER-5)', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    await once(child, 'spawn')
    const identity = identify(child.pid)
    expect(isAlive(identity)).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isAlive(identity)).toBe(false)
  })

  it.runIf(process.platform === 'linux')('is not that of another process that got its number (KER-5)', () => {
    const { pid, start } = identify()
    expect(start).toMatch(/^\d+$/)
    expect(isAlive({ pid, start: String(Number(start) - 1) })).toBe(false)
    expect(isAlive({ pid, start: '' })).toBe(true)
  })

  it.each([0, -1, Number.NaN, 1.5, 2 ** 40])('is nobody’s with the number %s (KER-5)', (pid) => {
    expect(isAlive({ pid, start: '' })).toBe(false)
  })
})
