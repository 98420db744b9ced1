import { describe, expect, it } from 'vitest'
import { inFullLane } from '../../../tests/scale.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { benchKillers } from './bench-killers.ts'
import { curveWorlds, trainRun } from './curve-world.ts'
import { killers } from './run-curve-session.ts'

const { signal } = new AbortController()
const named = <T>(found: T | undefined): T => {
  if (found === undefined) throw new Error('it is not there')
  return found
}
const world = (name: string) => named(curveWorlds.find((each) => each.name === `curves-${name}`))
const killer = (kind: string) => named(killers.find((each) => each.kind === kind))

describe('worlds of curves', () => {
  it('hold curves that fall, cool down at the end, and cross (RES-801)', () => {
    const [steady, cooled] = world('cooldown').families.map((family) => curveOf(family, 0))
    const slow = curveOf(named(world('crossing').families[1]), 4)
    const at = (curve: number[] | undefined, share: number) => curve?.[Math.round(share * 40) - 1] ?? Number.NaN
    expect(at(steady, 0.25)).toBeGreaterThan(at(steady, 0.5) + 3)
    expect(at(cooled, 0.5) - at(steady, 0.5)).toBeGreaterThan(3)
    expect(Math.abs(at(cooled, 1) - at(steady, 1))).toBeLessThan(3)
    expect(at(slow, 0.25)).toBeGreaterThan(at(steady, 0.25) + 2)
    expect(at(slow, 1)).toBeLessThan(at(steady, 1) - 1)
  })

  function curveOf(family: Parameters<typeof trainRun>[0]['family'], reached: number): number[] {
    const random = keyedRandom(5, 'curve')
    return trainRun({ family, reached }, 0, { session: random, run: random }).curve.map(({ value }) => value)
  }
})

describe('killers', () => {
  const run = (losses: number[]) => ({ family: 'f', losses, gaps: losses, condemned: false, loss: 0 })

  it('by the median wait for five finished runs and end what is above their median (RES-801)', () => {
    const history = [1, 2, 3, 4].map((loss) => run([loss]))
    const { decide } = killer('median')
    expect(decide(run([9]), history, 0)).toBe('continue')
    expect(decide(run([3.5]), [...history, run([5])], 0)).toBe('kill')
    expect(decide(run([2.5]), [...history, run([5])], 0)).toBe('continue')
    expect(decide(run([2.5, 9]), [...history, run([5])], 0)).toBe('continue') // nobody came to the second check
  })

  it('by halves let the better half of all that came so far go on (RES-801)', () => {
    const { decide } = killer('halving')
    expect(decide(run([9]), [], 0)).toBe('continue')
    expect(
      decide(
        run([2]),
        [1, 3, 4].map((loss) => run([loss])),
        0,
      ),
    ).toBe('continue')
    expect(
      decide(
        run([3.5]),
        [1, 3, 4].map((loss) => run([loss])),
        0,
      ),
    ).toBe('kill')
  })
})

describe('benchKillers', () => {
  const options = { repeats: inFullLane ? 60 : 4, budget: inFullLane ? 200 : 60, seed: 3, signal }

  it('counts time instead of experiments, and repeats exactly (RES-801)', async () => {
    const few = { ...options, repeats: 3, worlds: [world('plain')], killers }
    const first = await benchKillers(few)
    expect(first.results.map(({ strategy }) => strategy)).toEqual(['watcher', 'none', 'median', 'halving'])
    expect(first.comparisons.map(({ strategy, baseline }) => [strategy, baseline])).toEqual(
      ['none', 'median', 'halving'].map((other) => ['watcher', other]),
    )
    const [watcher, none, median] = first.results.map(({ time }) => time)
    expect(none).toMatchObject({
      saved: 0,
      killed: 0,
      winners_killed: 0,
      regret: 0,
      audited_regret: null,
      audit_bias: null,
    })
    expect(median?.saved).toBeGreaterThan(0.1)
    expect(median?.killed).toBeGreaterThan(watcher?.killed ?? Number.NaN)
    expect(await benchKillers(few)).toEqual(first)
  })

  it('hears an interruption (RES-801)', async () => {
    await expect(
      benchKillers({ ...options, worlds: curveWorlds, killers, signal: AbortSignal.abort() }),
    ).rejects.toThrow('aborted')
  })

  it('shows that the watcher of the loop loses few winners, where others lose many (RES-801)', async () => {
    const worlds = inFullLane ? curveWorlds : [world('rare')]
    const { results, comparisons } = await benchKillers({ ...options, worlds, killers })
    for (const { strategy, time, table } of results) {
      const lost = time.winners_killed / time.winners
      if (strategy === 'watcher')
        expect({ table, isFew: lost < (inFullLane ? 0.06 : 0.15) }).toEqual({ table, isFew: true })
      if (strategy === 'median') expect({ table, isMany: lost > 0.15 }).toEqual({ table, isMany: true })
    }
    if (!inFullLane) return
    for (const { baseline, table, saved_ci } of comparisons) {
      if (baseline === 'none') expect({ table, isNoHarm: saved_ci[1] > 0 }).toEqual({ table, isNoHarm: true })
      else if (table === 'curves-crossing') expect(saved_ci[0]).toBeGreaterThan(0)
    }
  })
})
