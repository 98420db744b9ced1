import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { processesWith } from '../../../tests/processes-with.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { findProcessLevel } from '../../sandbox/index.ts'
import { WorkerSandboxes } from './worker-sandboxes.ts'

const folder = temporaryFolders()
const found = await findProcessLevel()
const { it } = needs('workers in a sandbox', () => (found.level === 'process' ? (found.reason ?? 'none') : true))
const { signal } = new AbortController()
const limits = { memoryMb: 512, diskMb: 64 }
const data = (text: string) => Buffer.from(text).toString('base64')

/** Writes a file in a sandbox and runs a command there. */
async function put(held: WorkerSandboxes, sandbox: number, path: string, text: string) {
  await held.call(sandbox, { method: 'stage', upload: 1, name: '', data: data(text), mode: 0o644 }, signal)
  await held.call(sandbox, { method: 'write', upload: 1, path }, signal)
}
async function sh(held: WorkerSandboxes, sandbox: number, line: string, more: object = {}) {
  const command = { argv: ['/bin/sh', '-c', line], ...more }
  return (await held.call(sandbox, { method: 'exec', command }, signal)).ended
}

describe('sandboxes that are held for a worker', () => {
  it('run what a worker writes into them, apart from one another (BOX-406)', async () => {
    await using held = new WorkerSandboxes(limits)
    const [a, b] = [await held.open(signal), await held.open(signal)]
    await put(held, a.sandbox, '/work/answer.sh', 'echo from a')
    expect(await sh(held, a.sandbox, './answer.sh')).toMatchObject({ exitCode: 0, stdout: 'from a\n' })
    expect(await sh(held, b.sandbox, 'ls')).toMatchObject({ stdout: '' })
    expect(a.level).not.toBe('process')
  })

  it('cannot be reached by another run, nor after they are closed (BOX-406)', async () => {
    await using held = new WorkerSandboxes(limits)
    await using other = new WorkerSandboxes(limits)
    const { sandbox } = await held.open(signal)
    await held.open(signal)
    await expect(sh(other, sandbox, 'true')).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
    await expect(sh(held, 99, 'true')).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
    await held.close(sandbox)
    await expect(sh(held, sandbox, 'true')).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
    await expect(held.close(sandbox)).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
  })

  it('write no file of this machine, whatever the answer left in the place of one (BOX-406)', async () => {
    await using held = new WorkerSandboxes(limits)
    const { sandbox } = await held.open(signal)
    const target = join(realpathSync(folder()), 'target')
    writeFileSync(target, 'whole')
    await sh(held, sandbox, `ln -s ${target} answer`)
    await put(held, sandbox, '/work/answer', 'changed')
    expect(readFileSync(target, 'utf8')).toBe('whole')
    expect(await sh(held, sandbox, 'cat answer')).toMatchObject({ stdout: 'changed' })
    for (const path of ['/work/../x', '/work/a/b', '/etc/passwd', target, '/work/', '/work/.', '/work/..', 'x'])
      await expect(put(held, sandbox, path, 'x'), path).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
    for (const method of ['upload', 'download', 'read', 'empty'] as const)
      await expect(
        held.call(
          sandbox,
          method === 'upload' ? { method, upload: 1, path: target } : { method, path: target },
          signal,
        ),
      ).rejects.toThrow()
  })

  it('have neither the network nor more than the run may take, and nothing of them outlives it (BOX-406)', async () => {
    const mark = `held-${Date.now()}`
    const held = new WorkerSandboxes(limits)
    const { sandbox } = await held.open(signal)
    await expect(sh(held, sandbox, 'true', { network: true })).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
    await expect(sh(held, sandbox, 'true', { limits: { memoryBytes: 2 ** 40 } })).rejects.toThrow(/512 MB/)
    expect(await sh(held, sandbox, 'sleep 60', { limits: { timeoutMs: 200 } })).toMatchObject({ limitHit: 'timeoutMs' })
    const running = sh(held, sandbox, `setsid sh -c 'sleep 600' ${mark} & sh -c 'sleep 600' ${mark}`).catch(
      (e) => e.code,
    )
    await expect.poll(() => processesWith(mark).length, { timeout: 20_000 }).toBeGreaterThan(0)
    await held[Symbol.asyncDispose]()
    await running
    expect(processesWith(mark)).toEqual([])
    await expect(held.open(signal)).rejects.toMatchObject({ code: 'INTERRUPTED' })
  })

  it('are few at a time, and take no more memory together than the run may (BOX-406)', async () => {
    await using held = new WorkerSandboxes(limits)
    const opened: number[] = []
    const flood = Array.from({ length: 60 }, () =>
      held.open(signal).then(
        ({ sandbox }) => opened.push(sandbox),
        () => {},
      ),
    )
    await expect.poll(() => opened.length, { timeout: 30_000 }).toBeGreaterThan(1)
    expect(opened.length).toBeLessThanOrEqual(16)
    const [a = 0, b = 0] = opened
    const order: string[] = []
    const command = (sandbox: number, name: string) =>
      sh(held, sandbox, `sleep 0.5; echo ${name}`, { limits: { memoryBytes: 400 << 20 } }).then(() => order.push(name))
    await Promise.all([command(a, 'first'), command(b, 'second')])
    expect(order).toEqual(['first', 'second'])
    await held[Symbol.asyncDispose]()
    await Promise.all(flood)
  })
})
