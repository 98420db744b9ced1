import { describe, expect, it } from 'vitest'
import { inFullLane } from '../../../tests/scale.ts'
import { smallHeader, smallValues } from '../../../tests/table-files.ts'
import type { Strategy } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { defaultStrategy } from '../../research/search/default-strategy.ts'
import { greedyDedup, reference } from '../../research/search/strategies.ts'
import { tableTruth } from '../tables/search-table.ts'
import { cellTable, gridTable, nkTable, trapTable } from '../tables/synthetic-tables.ts'
import { benchStrategies, runSession } from './bench-strategies.ts'
import { syntheticWorlds } from './synthetic-worlds.ts'
import { tableWorld, type World } from './world.ts'

const { signal } = new AbortController()
const { name, seeds, axes } = smallHeader
const table = { name, direction: 'min' as const, seeds, axes, values: smallValues() }
const hill = tableWorld(table)
const entry = (strategy: Strategy) => ({ strategy, params: strategy.params.parse({}) })

describe('benchStrategies', () => {
  it('finds what there is to find, sooner by memory than without (RES-109)', async () => {
    const strategies = [entry(defaultStrategy), entry(reference)]
    const { results, comparisons, flat } = await benchStrategies({
      ...{ worlds: [hill], strategies, repeats: 30, budget: 100, seed: 1, signal },
    })
    expect(flat).toEqual([])
    const [ours, theirs] = results
    expect(ours).toMatchObject({ table: 'hill', strategy: 'default', reach: 1 })
    expect(ours?.ci[0]).toBeLessThan(ours?.par2 ?? 0)
    expect(ours?.ci[1]).toBeGreaterThan(ours?.par2 ?? 0)
    const [comparison] = comparisons
    expect(comparison).toMatchObject({ table: 'hill', strategy: 'default', baseline: 'reference' })
    expect(comparison?.difference).toBeCloseTo((ours?.par2 ?? 0) - (theirs?.par2 ?? 0))
    expect(comparison?.saved).toBeCloseTo(1 - (ours?.par2 ?? 0) / (theirs?.par2 ?? 0))
    expect(comparison?.saved).toBeGreaterThan(0.3)
    expect(comparison?.ci[1]).toBeLessThan(0)
  })

  it('counts a miss as twice the budget and repeats exactly (RES-109)', async () => {
    const options = { worlds: [hill], strategies: [entry(greedyDedup)], repeats: 5, budget: 1, seed: 4, signal }
    const first = await benchStrategies(options)
    expect(first.results[0]).toMatchObject({ par2: 2, reach: 0 })
    expect(await benchStrategies(options)).toEqual(first)
  })

  it('does not search a flat table (RES-109)', async () => {
    const noisy = tableWorld({ ...table, values: smallValues(50) })
    const options = { worlds: [noisy], strategies: [entry(reference)], repeats: 5, budget: 5, seed: 1, signal }
    expect(await benchStrategies(options)).toEqual({
      ...{ results: [], comparisons: [] },
      flat: [{ table: 'hill', why: expect.stringMatching(/^the target is 0\.\d\d seed sd/) }],
    })
  })

  it('stops when it is told to (RES-109)', async () => {
    const options = { worlds: [hill], strategies: [entry(reference)], repeats: 5, budget: 5, seed: 1 }
    await expect(benchStrategies({ ...options, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })
})

describe('runSession', () => {
  const tally = (strategy: Strategy) => {
    const runs: string[] = []
    const watched: World = {
      ...hill,
      open(random) {
        const session = hill.open(random)
        return {
          ...session,
          run: (candidate, draw) => ({
            ...session.run(candidate, draw),
            reached: runs.push(candidate.fingerprint) < 0,
          }),
        }
      },
    }
    const random = keyedRandom(1, 'tally')
    runSession({ world: watched, strategy, params: strategy.params.parse({}), budget: 80, random, signal })
    return runs
  }

  it('answers repeats from memory, unless the strategy runs them again (RES-110)', () => {
    for (const strategy of [defaultStrategy, greedyDedup]) {
      const runs = tally(strategy)
      expect(runs).toHaveLength(81)
      expect(new Set(runs).size).toBe(81)
    }
    const again = tally(reference)
    expect(again).toHaveLength(81)
    expect(new Set(again).size).toBeLessThan(81)
  })

  it('ends when nothing new is left (RES-110)', () => {
    const tiny = tableWorld(
      { ...table, axes: axes.slice(2, 3), values: Float32Array.of(1, 1, 2, 2, 3, 3) },
      {
        ...tableTruth({ ...table, axes: axes.slice(2, 3), values: Float32Array.of(1, 1, 2, 2, 3, 3) }),
        target: Number.POSITIVE_INFINITY,
      },
    )
    const { strategy, params } = entry(greedyDedup)
    expect(runSession({ world: tiny, strategy, params, budget: 50, random: keyedRandom(1), signal })).toBeUndefined()
  })
})

describe('worlds', () => {
  it('propose changes of one to three knobs of the parent, or values of the second (RES-110)', () => {
    const session = hill.open(keyedRandom(1))
    const request = { parents: ['a'], mode: 'improve', ideas: 200, avoidFamilies: [] } as const
    const changed = session.propose(request, [session.baseline], keyedRandom(2)).map(({ knobs, idea }) => {
      const names = Object.keys(knobs).filter((name) => knobs[name] !== session.baseline.knobs[name])
      expect(idea.change).toEqual({
        kind: 'knobs',
        knobs: Object.fromEntries(names.map((name) => [name, knobs[name]])),
      })
      return names.length
    })
    expect(new Set(changed)).toEqual(new Set([1, 2, 3]))
    const [partner] = session.propose({ ...request, ideas: 1 }, [session.baseline], keyedRandom(3))
    const differing = Object.keys(partner?.knobs ?? {}).filter(
      (name) => partner?.knobs[name] !== session.baseline.knobs[name],
    )
    for (const { knobs } of session.propose(request, [session.baseline, partner ?? session.baseline], keyedRandom(4))) {
      for (const name of differing) expect([session.baseline.knobs[name], partner?.knobs[name]]).toContain(knobs[name])
    }
  })

  it('of NK have one peak without coupling and more with it (RES-110)', () => {
    const peaks = (k: number) => {
      const { merits } = tableTruth({ ...nkTable({ n: 10, k, seed: 1 }) })
      return merits.filter((merit, at) =>
        Array.from({ length: 10 }, (_, bit) => merits[at ^ (1 << bit)] ?? 0).every((other) => other < merit),
      ).length
    }
    expect(peaks(0)).toBe(1)
    expect(peaks(5)).toBeGreaterThan(5)
    expect(() => nkTable({ n: 40, k: 1, seed: 1 })).toThrow(RangeError)
  })

  it.each([
    ['cells', cellTable],
    ['grids', gridTable],
    ['traps', trapTable],
  ] as const)('of %s repeat exactly and can be told apart by seeds (RES-113)', (name, make) => {
    const table = make({ seed: 3, place: 2 })
    expect(table).toMatchObject({ name: `${name}-2`, direction: 'max' })
    expect(tableTruth(table).flat).toBe(false)
    expect(Buffer.from(make({ seed: 3, place: 2 }).values.buffer).equals(Buffer.from(table.values.buffer))).toBe(true)
    expect(make({ seed: 4, place: 2 }).values.slice(0, 100)).not.toEqual(table.values.slice(0, 100))
  })

  it('of cells learn nothing without a way through, those of traps have a top far from the broad hill (RES-113)', () => {
    const cells = tableTruth(cellTable({ seed: 1, place: 0 })).merits
    const cut = [0, ...Array.from({ length: 4 }, (_, i) => i + 1)] // all edges closed but the last
    const sorted = [...cells].sort((a, b) => a - b)
    for (const cell of cut) expect(cells[cell]).toBeLessThan(sorted[cells.length >> 1] ?? 0)

    const { merits } = tableTruth(trapTable({ seed: 1, place: 0 }))
    const digits = (config: number) => Array.from({ length: 6 }, (_, axis) => Math.floor(config / 5 ** (5 - axis)) % 5)
    const best = merits.indexOf(Math.max(...merits))
    // The value of each knob that is best on the mean over all others leads elsewhere.
    const leads = digits(0).map((_, axis) => {
      const means = Array.from({ length: 5 }, (_, place) =>
        merits.reduce((sum, merit, config) => sum + (digits(config)[axis] === place ? merit : 0), 0),
      )
      return means.indexOf(Math.max(...means))
    })
    expect(leads.filter((place, axis) => place !== digits(best)[axis]).length).toBeGreaterThan(1)
  })

  it('of ideas hold families, repeats and crashes, and reward memory (RES-110)', async () => {
    const worlds = syntheticWorlds('ideas', 1).slice(0, inFullLane ? 3 : 1)
    const strategies = [entry(defaultStrategy), entry(reference)]
    const { results, comparisons } = await benchStrategies({
      worlds,
      strategies,
      repeats: 12,
      budget: 60,
      seed: 2,
      signal,
    })
    expect(results.every(({ par2 }) => par2 > 1)).toBe(true)
    for (const { saved } of comparisons) expect(saved).toBeGreaterThan(0)
    expect(() => syntheticWorlds('idea', 1)).toThrow('there are no worlds called "idea"')
  })
})
