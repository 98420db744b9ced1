import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { compiledUrl } from '../../../tests/compiled-url.ts'
import { kitProtocol } from '../../../tests/kit-protocol.ts'
import { needs } from '../../../tests/needs.ts'
import { runCommand } from '../../../tests/run-command.ts'
import { isAlive } from '../process-identity.ts'
import {
  type Child,
  type ChildOptions,
  howEnded,
  isOutOfMemory,
  openChild,
  type ProcessEnd,
  SilenceTimer,
} from './child.ts'
import { forkedProcess, ownThread } from './forked-process.ts'
import { type GuardedProcessOptions, guardedProcess } from './guarded-process.ts'
import { dropSpares, startSpare, takeSpare } from './spare.ts'

type KitChild = Child<typeof kitProtocol>

const script = compiledUrl(resolve('tests/children/kit-child.ts'))
/** A processor that this process may use; absent: it cannot be chosen here. */
const cores = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' }).stdout ?? ''
const firstCore = /: (\d+)/.exec(cores)?.[1]
const oneCore = needs('taskset', () => firstCore !== undefined || 'no processor can be chosen')

const opened: KitChild[] = []
const seen: number[] = []

class Death extends Error {
  readonly end: ProcessEnd

  constructor(end: ProcessEnd) {
    super(`${end.stopped ?? howEnded(end)}`)
    this.end = end
  }
}

function open(
  start: ChildOptions<typeof kitProtocol>['start'],
  options: Partial<ChildOptions<typeof kitProtocol>> = {},
): KitChild {
  const child = openChild({
    protocol: kitProtocol,
    start,
    handlers: { twice: async (number) => number * 2, seen: (number) => void seen.push(number) },
    deathOf: (end) => new Death(end),
    ...options,
  })
  opened.push(child)
  return child
}

const guarded = (options: Partial<GuardedProcessOptions> = {}, more: Partial<ChildOptions<typeof kitProtocol>> = {}) =>
  open(guardedProcess({ script, heapMb: 256, memoryMb: 4096, ...options }), more)
const forked = (bytesInFiles = true) => open(forkedProcess({ script: script.href, args: [], bytesInFiles }))

/** How the child ended, as the call that it left without a reply says. */
async function deathBy(
  child: KitChild,
  act: string,
  options: Parameters<KitChild['call']>[2] = {},
): Promise<ProcessEnd> {
  const failure = await child
    .call('act', act, options)
    .then(
      () => child.call('wait', null, options), // it ends a moment later
      (error: unknown) => error,
    )
    .catch((error: unknown) => error)
  if (!(failure instanceof Death)) throw failure
  return failure.end
}

afterEach(async () => {
  vi.unstubAllEnvs()
  dropSpares()
  seen.length = 0
  await Promise.all(opened.splice(0).map((child) => child.close()))
})

describe.each<[string, () => KitChild]>([
  ['a guarded process', () => guarded()],
  ['a forked process', () => forked()],
  ['a thread', () => open(ownThread(script))],
])('%s', (_, start) => {
  it('replies to calls in any order, fails them with its words, and asks its parent meanwhile (KER-5)', async () => {
    const child = start()
    const [echo, asked] = await Promise.all([child.call('echo', { a: [1, null, 'x'] }), child.call('ask', [1, 2, 3])])
    expect([echo, asked]).toEqual([{ a: [1, null, 'x'] }, [2, 4, 6]])
    await expect(child.call('fail', 'no such thing')).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'no such thing',
    })
  })

  it('is told of a cancelled call, which rejects at once or waits for what the child has to say (KER-5)', async () => {
    const child = start()
    const stopping = new AbortController()
    const waits = child.call('wait', null, { signal: stopping.signal, onAbort: 'wait' })
    const leaves = child.call('wait', null, { signal: stopping.signal })
    stopping.abort(new Error('not wanted'))
    await expect(leaves).rejects.toThrow('not wanted')
    expect(await waits).toBe('cancelled')
    await expect(child.call('echo', 1, { signal: stopping.signal })).rejects.toThrow('not wanted')
  })

  it('takes notices in order, also before a later call (KER-5)', async () => {
    const child = start()
    for (let i = 0; i < 1000; i++) child.notify('note', `${i}`)
    expect(await child.call('notes', null)).toBe(1000)
  })

  it('that is closed rejects what is under way and all that comes after with its typed end (KER-5)', async () => {
    const child = start()
    await child.call('echo', 1)
    const waits = child.call('wait', null)
    waits.catch(() => {})
    await child.close()
    await expect(waits).rejects.toBeInstanceOf(Death)
    await expect(child.call('echo', 1)).rejects.toMatchObject({ end: { stopped: 'closed' } })
  })
})

describe('a guarded process', () => {
  it.each<[string, Partial<ProcessEnd>]>([
    ['exit', { code: 3, signal: null }],
    ['throw later', { code: 1, printed: expect.stringContaining('thrown where nothing catches it') }],
    ['die by a signal', { code: null, signal: 'SIGTERM' }],
    ['print without end', { stopped: 'flood' }],
    ['write a line without end', { stopped: 'flood' }],
    ['send what is no number', { stopped: 'garbled' }],
    ['send an unknown notice', { stopped: 'garbled' }],
  ])('that does this is gone, and its calls say how: %s (KER-5)', async (act, end) => {
    expect(await deathBy(guarded(), act)).toMatchObject(end)
  })

  it('that calls without end is gone, and its calls say how (KER-5)', async () => {
    const handlers = { twice: () => new Promise<number>(() => {}), seen() {} } // all are under way at a time
    expect(await deathBy(guarded({}, { handlers }), 'call without end')).toMatchObject({ stopped: 'flood' })
  })

  it('that notifies without end is stopped where a bound is set, and is slowed down where none is (KER-5)', async () => {
    let left = 1000
    const bounded = guarded({}, { mayNotice: () => left-- > 0 })
    expect(await deathBy(bounded, 'notify without end')).toMatchObject({ stopped: 'flood' })
    expect(seen).toHaveLength(1000)
  })

  it('that hangs is ended by its watchdog (KER-5)', async () => {
    const child = guarded()
    await child.call('watch', { timeoutMs: 300 })
    expect(await deathBy(child, 'hang')).toMatchObject({ signal: 'SIGKILL', stuck: { spent: 'time' } })
  })

  it('that is suspended while it computes is not taken for stuck (KER-41)', async () => {
    const child = guarded()
    await child.call('watch', { timeoutMs: 1500 })
    const computed = child.call('act', 'compute for a moment')
    await vi.waitFor(() => expect(seen).toEqual([0]), { timeout: 20_000 }) // it is at it
    process.kill(child.pid ?? 0, 'SIGSTOP')
    const resume = setTimeout(() => process.kill(child.pid ?? 0, 'SIGCONT'), 3000)
    await computed.finally(() => clearTimeout(resume))
    expect(await child.call('echo', 'alive')).toBe('alive')
  })

  oneCore.it('that waits for a processor is not taken for stuck (KER-41)', async () => {
    const child = guarded()
    await child.call('watch', { timeoutMs: 1200 })
    // Four share one processor with it: a moment takes five times as long.
    const rivals = Array.from({ length: 4 }, () =>
      spawn('taskset', ['-c', String(firstCore), process.execPath, '-e', 'for (;;);'], {
        stdio: 'ignore',
        detached: true,
      }),
    )
    try {
      const pinned = spawnSync('taskset', ['-acp', String(firstCore), String(child.pid)], { stdio: 'ignore' })
      expect(pinned.status).toBe(0)
      const began = performance.now()
      await child.call('act', 'compute for a moment')
      expect(performance.now() - began).toBeGreaterThan(1500) // longer than it may be stuck
    } finally {
      for (const rival of rivals) rival.kill('SIGKILL')
    }
    expect(await child.call('echo', 'alive')).toBe('alive')
  })

  it('that hangs without a watchdog is ended by the deadline of the call (KER-5)', async () => {
    expect(await deathBy(guarded(), 'hang', { timeoutMs: 1500 })).toMatchObject({ stopped: 'silent' })
  })

  it('that is stopped from outside is missed, and one that only computes is not (KER-5)', async () => {
    const child = guarded()
    await child.call('watch', { timeoutMs: 60_000 })
    await child.call('act', 'block for a moment', { silenceMs: 30_000 })
    expect(await deathBy(child, 'stand still', { silenceMs: 2500 })).toMatchObject({ stopped: 'silent' })
  })

  it('that fills its heap is out of memory (KER-5)', async () => {
    expect(isOutOfMemory(await deathBy(guarded({ heapMb: 64 }), 'fill the heap'))).toBe(true)
  })

  it('that fills its memory is found by its watchdog, and ended by the system where that is too slow (KER-5)', async () => {
    const watched = guarded()
    await watched.call('watch', { timeoutMs: 60_000, memoryMb: 300 })
    // It stops at 640 MB: one that goes on may reach what the system allows before the watchdog looks.
    expect(await deathBy(watched, 'hold much memory')).toMatchObject({ stuck: { spent: 'memory' } })
    expect((await deathBy(guarded({ memoryMb: 1500 }), 'fill the memory')).code).not.toBe(0)
  })

  it('is never taken for one that says what foreign code writes to its pipe (KER-5)', async () => {
    let printed = ''
    const child = guarded({
      onPrinted(text) {
        printed += text
        return true
      },
    })
    await child.call('act', 'write noise')
    expect(await child.call('echo', 'real')).toBe('real')
    expect(printed).toBe('{"type":"reply","id":1,"result":"forged"}\nnoise')
  })

  it('that reads slowly holds up whoever waits for it, and gets everything (KER-5)', async () => {
    const child = guarded()
    await child.call('echo', 1)
    const blocked = child.call('act', 'block for a moment')
    const text = 'x'.repeat(1024 * 1024)
    const began = performance.now()
    for (let i = 0; i < 8; i++) {
      child.notify('note', text)
      await child.drained()
    }
    expect(performance.now() - began).toBeGreaterThan(300)
    await blocked
    expect(await child.call('notes', null)).toBe(8)
  })

  it('is killed with all it started when its caller aborts, and the call rejects with the reason (KER-5)', async () => {
    const child = guarded()
    const pid = Number(await child.call('act', 'start a process'))
    expect(runs(pid)).toBe(true)
    const stopping = new AbortController()
    const waits = child.call('wait', null, { signal: stopping.signal, onAbort: 'kill' })
    stopping.abort(new Error('enough'))
    await expect(waits).rejects.toThrow('enough')
    expect(child.end).toMatchObject({ stopped: 'closed' })
    await vi.waitFor(() => expect(runs(pid)).toBe(false), { timeout: 60_000 })
  })

  it('that ends keeps its parent alive until its calls have failed, whoever holds its pipes (KER-5)', async () => {
    const parent = compiledUrl(resolve('tests/children/kit-parent.ts'))
    const args = [fileURLToPath(parent), script.href, 'leave a process with its pipes']
    const result = await runCommand(process.execPath, args, { cwd: process.cwd() })
    expect(result).toEqual({ status: 0, stdout: 'Error: exit code 3\n', stderr: '' })
  })

  it('gets no variable that could hold a secret (KER-5)', async () => {
    vi.stubEnv('EVSYS_TEST_SECRET', 'secret')
    const names = await guarded().call('act', 'environment')
    expect(names).toContain('PATH')
    expect(names).not.toContain('EVSYS_TEST_SECRET')
  })

  it('fails its calls with the fault of a handler of its parent (KER-5)', async () => {
    const child = guarded(
      {},
      {
        handlers: {
          twice() {
            throw new Error('not today')
          },
          seen() {
            throw new Error('a fault of ours')
          },
        },
      },
    )
    await expect(child.call('ask', [1])).rejects.toMatchObject({ message: 'not today' })
    await expect(child.call('act', 'notify without end')).rejects.toThrow('a fault of ours')
  })
})

describe('a forked process', () => {
  it.each<[string, Partial<ProcessEnd>]>([
    ['exit', { code: 3 }],
    ['throw later', { code: 1, printed: expect.stringContaining('thrown where nothing catches it') }],
    ['die by a signal', { signal: 'SIGTERM' }],
    ['send what is no number', { stopped: 'garbled' }],
  ])('that does this is gone, and its calls say how: %s (TRN-14)', async (act, end) => {
    expect(await deathBy(forked(), act)).toMatchObject(end)
  })

  it.each([false, true])('carries bytes of any size, in their order (in files: %s) (TRN-14)', async (inFiles) => {
    const child = forked(inFiles)
    const large = new Uint8Array(600_000).fill(7)
    const [first, second] = await Promise.all([child.call('echo', { bytes: large }), child.call('echo', 'after')])
    expect(Buffer.compare((first as { bytes: Uint8Array }).bytes, large)).toBe(0)
    expect(second).toBe('after')
  })
})

describe('a warm spare', () => {
  const spec = { script: script.href, args: ['one'] }

  it('is the process that the next child of the same script and arguments gets (CPU-46)', async () => {
    startSpare(spec)
    startSpare(spec)
    const child = open(forkedProcess(spec))
    expect(await child.call('echo', 'warm')).toBe('warm')
    expect(takeSpare(spec)).toBeUndefined()
  })

  it('ends when another is wanted, or none (CPU-46)', async () => {
    startSpare(spec)
    expect(takeSpare({ ...spec, args: ['two'] })).toBeUndefined()
    expect(takeSpare(spec)).toBeUndefined()
    startSpare(spec)
    const spare = takeSpare(spec)
    spare?.child.disconnect()
    await vi.waitFor(() => expect(spare?.child.exitCode).toBe(0), { timeout: 60_000 })
  })

  it('is started by a process before that loads its own script (CPU-46)', async () => {
    const child = guarded({ spares: [spec] })
    expect(await child.call('echo', 1)).toBe(1)
  })
})

describe('silence', () => {
  it('is noticed once it lasts, and put off by every sign of life (LAB-4)', async () => {
    vi.useFakeTimers()
    try {
      const noticed = vi.fn()
      const timer = new SilenceTimer(1000, noticed)
      timer.start()
      await vi.advanceTimersByTimeAsync(900)
      timer.heard()
      await vi.advanceTimersByTimeAsync(900)
      expect(noticed).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(200)
      expect(noticed).toHaveBeenCalledOnce()
    } finally {
      vi.useRealTimers()
    }
  })

  it('is not taken for one by a controller that was busy itself: what has arrived is heard first (LAB-4)', async () => {
    const noticed = vi.fn()
    const timer = new SilenceTimer(20, noticed)
    const sent = new Int32Array(new SharedArrayBuffer(4))
    const sign = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
       parentPort.postMessage('alive')
       Atomics.store(workerData, 0, 1)
       Atomics.notify(workerData, 0)`,
      { eval: true, workerData: sent },
    )
    const judged = new Promise((resolve) => {
      sign.once('message', () => {
        timer.heard()
        setImmediate(resolve)
      })
    })
    timer.start()
    const until = performance.now() + 50
    Atomics.wait(sent, 0, 0) // our event loop stands still until a sign of life lies waiting, and the time is long over
    while (performance.now() < until);
    await judged
    timer.stop()
    expect(noticed).not.toHaveBeenCalled()
  })

  it('means nothing while nobody is listened for (LAB-4)', async () => {
    vi.useFakeTimers()
    try {
      const noticed = vi.fn()
      const timer = new SilenceTimer(1000, noticed)
      timer.start()
      timer.stop()
      timer.heard()
      await vi.advanceTimersByTimeAsync(5000)
      expect(noticed).not.toHaveBeenCalled()
    } finally {
      vi.useRealTimers()
    }
  })

  it('lasts longer before the first sign: a process has to start (LAB-4)', async () => {
    vi.useFakeTimers()
    try {
      const noticed = vi.fn()
      const timer = new SilenceTimer(1000, noticed)
      timer.start(5000)
      await vi.advanceTimersByTimeAsync(4900)
      timer.heard()
      await vi.advanceTimersByTimeAsync(900)
      expect(noticed).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(200)
      expect(noticed).toHaveBeenCalledOnce()
    } finally {
      vi.useRealTimers()
    }
  })
})

/** Whether a process runs: one that has ended may wait for its parent to take note of it. */
function runs(pid: number): boolean {
  if (!isAlive({ pid, start: '' })) return false
  if (process.platform !== 'linux') return true
  return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}
