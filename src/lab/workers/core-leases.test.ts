import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import { startChild } from '../../../tests/start-child.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { manualClock } from '../../kernel/index.ts'
import { acquireCores } from './core-leases.ts'

const folder = temporaryFolders()
const never = new AbortController().signal
const slow = { timeout: 120_000 }

/** Cores of a machine with a clock of its own: who looks in vain sleeps, so it is known that he waits. */
function machine(capacity: number) {
  const clock = manualClock()
  const dir = folder()
  return {
    dir,
    take: (n: number, signal = never) => acquireCores(n, signal, { dir, capacity, clock }),
    /** Lets everybody look again. */
    turn: () => clock.advance(20),
    /** Resolves when so many have looked in vain. */
    waiting: (count: number) => clock.untilSleeping(count),
  }
}

describe('cores', () => {
  it('are given as long as there are some, and again when they come back (LAB-11)', async () => {
    const { dir, take, turn, waiting } = machine(3)
    const first = await take(2)
    const second = await take(1)
    const third = take(2)
    await waiting(1)
    await second[Symbol.asyncDispose]()
    await turn()
    await waiting(1)
    await first[Symbol.asyncDispose]()
    await turn()
    await (await third)[Symbol.asyncDispose]()
    expect(readdirSync(dir)).toEqual([])
  })

  it('are given in the order of asking: a large wish is not starved by small ones (LAB-11)', async () => {
    const { take, turn, waiting } = machine(4)
    const holding = await take(3)
    const large = take(4)
    await waiting(1)
    const small = take(1) // would fit at once
    await waiting(2)
    await holding[Symbol.asyncDispose]()
    await turn()
    const lease = await large
    await waiting(1)
    await lease[Symbol.asyncDispose]()
    await turn()
    await (await small)[Symbol.asyncDispose]()
  })

  it('are never more than there are, whoever asks for how many and when (LAB-11)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (wishes, capacity) => {
          const dir = folder()
          let held = 0
          let most = 0
          await Promise.all(
            wishes.map(async (n) => {
              await using lease = await acquireCores(n, never, { dir, capacity })
              held += lease.cores
              most = Math.max(most, held)
              await new Promise(setImmediate)
              held -= lease.cores
            }),
          )
          expect(most).toBeLessThanOrEqual(capacity)
          expect(readdirSync(dir)).toEqual([])
        },
      ),
      { numRuns: 10 },
    )
  }, 120_000)

  it('that are more than the machine has mean all of them (LAB-11)', async () => {
    await using lease = await acquireCores(64, never, { dir: folder(), capacity: 2 })
    expect(lease.cores).toBe(2)
    await expect(acquireCores(0, never, { dir: folder() })).rejects.toThrow(RangeError)
  })

  it('are no longer waited for after an abort, which leaves no trace (LAB-11)', async () => {
    const { dir, take, waiting } = machine(1)
    await using holding = await take(1)
    const abort = new AbortController()
    const left = take(1, abort.signal)
    await waiting(1)
    abort.abort(new Error('enough'))
    await expect(left).rejects.toThrow('enough')
    expect(holding.cores).toBe(1)
    expect(readdirSync(dir)).toHaveLength(1)
  })

  it('are not lost to files that are none of ours (LAB-11)', async () => {
    const dir = folder()
    for (const name of ['claim-1-1-x', 'notes.txt', 'claim-000000000000-9-0.0.ff']) writeFileSync(join(dir, name), '')
    await using lease = await acquireCores(1, never, { dir, capacity: 1 })
    expect(lease.cores).toBe(1)
  })

  it('are refused in a folder that is not our own (LAB-11)', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'real'))
    symlinkSync(join(dir, 'real'), join(dir, 'link'))
    const refused = acquireCores(1, never, { dir: join(dir, 'link') })
    await expect(refused).rejects.toMatchObject({
      code: 'FILE_FAILED',
      message: expect.stringContaining('not a folder'),
    })
  })

  it('are shared between processes, and come back when their holder is killed (LAB-11)', slow, async () => {
    const { dir, take, turn, waiting } = machine(2)
    const holders = [startChild('core-holder', [dir, '2']), startChild('core-holder', [dir, '2'])]
    for (const holder of holders) expect(await holder.line()).toBe('held')
    const both = take(2)
    for (const holder of holders) {
      await waiting(1)
      await holder.kill()
      await turn()
    }
    await (await both)[Symbol.asyncDispose]()
    expect(readdirSync(dir)).toEqual([])
  })

  it('of a process that hangs are given to others, and count again when it runs again (USE-146)', async () => {
    const { dir, take, turn, waiting } = machine(1)
    await using _hung = await take(1)
    const waits = take(1)
    await waiting(1)
    const [claim = ''] = readdirSync(dir).sort()
    const long = new Date(Date.now() - 120_000)
    utimesSync(join(dir, claim), long, long)
    await turn()
    await using _served = await waits
    utimesSync(join(dir, claim), new Date(), new Date())
    const third = take(1)
    await waiting(1) // two hold the one core for now, and a third gets none
    utimesSync(join(dir, claim), long, long)
    await turn()
    await waiting(1)
    await _served[Symbol.asyncDispose]()
    await turn()
    await (await third)[Symbol.asyncDispose]()
  })

  it('are waited for aloud, with who holds them (USE-145)', slow, async () => {
    const dir = folder()
    await using _holding = await acquireCores(1, never, { dir, capacity: 1, what: 'a session of digits' })
    const abort = new AbortController()
    const told: string[] = []
    const onWait = (text: string) => {
      told.push(text)
      abort.abort(new Error('heard'))
    }
    await expect(acquireCores(1, abort.signal, { dir, capacity: 1, onWait })).rejects.toThrow('heard')
    const who = `1 core of this machine by process ${process.pid} (a session of digits)`
    expect(told.map((text) => text.replace(/\d+ s/, 'N s'))).toEqual([
      `waiting for 1 core of this machine (N s): held or asked for before: ${who}`,
    ])
  })

  it('are never held twice by processes that race for them, also while others are killed (LAB-11)', slow, async () => {
    const dir = folder()
    const race = (rounds: number) => startChild('core-racer', [dir, String(rounds)])
    const racers = [race(scaled(30)), race(scaled(30))]
    const victims = [race(1e9), race(1e9)]
    for (const victim of victims) {
      expect(await victim.line()).toBe('round')
      await victim.kill()
    }
    for (const racer of racers) {
      let line = await racer.line()
      while (line === 'round') line = await racer.line()
      expect(line).toBe('done')
    }
  })
})
