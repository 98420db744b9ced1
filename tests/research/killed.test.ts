import { rmSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { keyedRandom } from '../../src/kernel/index.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { keptOf, playSession, sessionFolder } from './research-process.ts'

const folder = temporaryFolders()
const slow = { timeout: 1_800_000 }
const moments = inFullLane ? 50 : 5

describe('a research session whose controller is killed', slow, () => {
  let expected: unknown
  let operations = 0
  let sent = 0
  let kills = 0

  beforeAll(async () => {
    const place = sessionFolder(folder())
    const whole = await playSession(place)
    expect(whole).toMatchObject({ code: 0 })
    operations = whole.operations
    const kept = await keptOf(place)
    expected = kept.canonical
    sent = kept.sent
    expect(kept.state.spend).toMatchObject({ experiments: 20, lostCalls: 0 })
  }, slow.timeout)

  it.each(Array.from({ length: moments }, (_, moment) => moment))(
    'ends in the same record when it goes on, at moment %i (RES-602)',
    async (moment) => {
      const dir = folder()
      const place = sessionFolder(dir)
      const killAt = 1 + Math.floor(((moment + keyedRandom(7, 'killed', moment).float()) / moments) * operations)
      const killed = await playSession(place, [`kill=${killAt}`])
      if (killed.code === 'SIGKILL') kills += 1
      const stood = await keptOf(place)
      const isDone = (stood.canonical as { verdict?: unknown } | undefined)?.verdict != null
      const second = await playSession(place, stood.canonical === undefined ? [] : ['resume'])
      const seen = { killAt, killed: killed.code, last: killed.lines.at(-1), code: second.code, error: second.error }
      expect(seen).toMatchObject(isDone ? { code: 2, error: { code: 'STORE_MISSING' } } : { code: 0 })
      const kept = await keptOf(place)
      expect({ ...seen, canonical: kept.canonical }).toEqual({ ...seen, canonical: expected })
      // At most one call was sent again, and what nobody heard of is on the bill.
      const { lostCalls, usd, assumedUsd } = kept.state.spend
      expect(lostCalls).toBeLessThanOrEqual(1)
      expect(kept.sent).toBeLessThanOrEqual(sent + lostCalls)
      expect(kept.sent).toBeGreaterThanOrEqual(sent)
      expect(assumedUsd).toBeCloseTo(
        lostCalls === 0 ? 0 : (kept.state.calls.find(({ lost }) => lost > 0)?.intent.forecast.usd ?? 0),
        9,
      )
      expect(usd).toBeCloseTo(sent * 0.0123 + assumedUsd, 9)
      rmSync(dir, { recursive: true })
    },
  )

  it('was killed nearly every time (RES-602)', () => {
    expect(kills).toBeGreaterThanOrEqual(0.8 * moments)
  })
})
