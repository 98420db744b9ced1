import { expect, it } from 'vitest'
import { attacks } from '../../src/arena/adversary/attacks.ts'
import { benchAdversary } from '../../src/arena/adversary/bench-adversary.ts'
import { honestCandidates } from '../../src/arena/adversary/honest-candidates.ts'
import { runAttack } from '../../src/arena/adversary/run-attack.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { linux } from './task-folders.ts'

const folder = temporaryFolders()
const signal = AbortSignal.timeout(600_000)

linux.describe('the bench of candidates that tamper', () => {
  it('sees what gets through where nothing shuts in (RES-802)', async () => {
    const [reader] = attacks.filter(({ name }) => name.startsWith('reads labels of validation by'))
    if (reader === undefined) throw new Error('there is none')
    const world = { canary: 'canary-of-this-test', port: 9, tag: 'evsys-tag-of-this-test' }
    const result = await runAttack(reader, { folder: folder(), world, visits: () => 0, signal, level: 'process' })
    expect(result).toMatchObject({ ended: 'got through', why: expect.stringContaining('which no one reaches') })
  })

  it('blocks attacks or scores them truly, and no honest candidate (RES-802)', async () => {
    const done: string[] = []
    const report = await benchAdversary({
      attacks: attacks.filter(({ name }, i) => (inFullLane ? i % 7 === 0 : name === 'holds an API of its own')),
      honest: inFullLane ? honestCandidates.filter((_, i) => i % 33 === 0) : [],
      workers: 2,
      signal,
      onDone: ({ strategy }) => done.push(strategy),
    })
    const { blocked, scored_truly, turned_down_by_reading } = report
    expect(report).toMatchObject({ got_through: 0, unclear: 0, honest_blocked: 0, skipped: [] })
    expect(report.level).toMatch(/^(bubblewrap|chroot)$/)
    expect(report.isolation).toMatch(/^memory by .*, processes by /)
    expect(blocked + scored_truly).toBe(report.attacks)
    expect(report.honest).toBe(inFullLane ? 4 : 0)
    expect(turned_down_by_reading).toBeGreaterThan(0)
    expect(done).toHaveLength(report.attacks + report.honest)
  })
})
