import { once } from 'node:events'
import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { benchChaos } from '../../src/arena/chaos/bench-chaos.ts'
import { isAlive } from '../../src/kernel/index.ts'
import { cleanEnv, evsysBin } from '../cli/run-process.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const slow = { timeout: 600_000 }
const common = { seed: 2, env: cleanEnv() }

describe('the bench of sessions that are disturbed', slow, () => {
  it('ends every one in the record of an undisturbed session (RES-803)', async () => {
    const repeats = inFullLane ? 3 : 1
    const rows = await benchChaos({
      ...{ ...common, evsys: [process.execPath, evsysBin], repeats, signal: AbortSignal.timeout(500_000) },
      ...(inFullLane ? {} : { kinds: ['kill'], experiments: 1 }),
    })
    expect(rows.map(({ disturbance }) => disturbance)).toEqual(
      inFullLane ? ['kill', 'kill-then-two', 'two-controllers', 'clock-jump', 'full-disk'] : ['kill'],
    )
    for (const { skipped, sessions, equal, disturbed, faults } of rows) {
      if (skipped !== undefined) expect(skipped).toMatch(/needs unshare and mount/)
      else expect({ sessions, equal, faults }).toEqual({ sessions: repeats, equal: repeats, faults: [] })
      expect(disturbed).toBeGreaterThanOrEqual(sessions - 1) // the last moment may come after the end
    }
  })

  it('stops its processes and leaves nothing behind when it is interrupted (RES-803)', async () => {
    const dir = folder()
    const program = join(dir, 'hangs.mjs')
    const mark = join(dir, 'pid')
    writeFileSync(
      program,
      `import fs from 'node:fs'; fs.writeFileSync(process.env.MARK, String(process.pid)); setInterval(() => {}, 1e6)`,
    )
    const stop = new AbortController()
    const watcher = watch(dir)
    const started = once(watcher, 'change')
    const [evsys, env] = [[process.execPath, program], { ...common.env, MARK: mark }]
    const running = benchChaos({ ...common, evsys, env, repeats: 1, signal: stop.signal })
    const refused = expect(running).rejects.toThrow('aborted')
    await started
    watcher.close()
    const made = readdirSync(tmpdir()).filter((name) => name.startsWith('evsys-chaos-'))
    stop.abort()
    await refused
    const pid = Number(readFileSync(mark, 'utf8'))
    await vi.waitFor(() => expect(isAlive({ pid, start: '' })).toBe(false), 60_000) // it is ended, and the system takes a moment
    expect(readdirSync(tmpdir()).filter((name) => made.includes(name)).length).toBeLessThan(made.length)
  })
})
