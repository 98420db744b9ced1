import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import type { Direction, KeepRule, Race, RaceStep, SeedScore } from '../../contracts/index.ts'
import { keepPlugins } from '../plugins.ts'
import { defaultRule, greedyRule, referenceRule } from './keep-rules.ts'

const scores = (values: readonly number[], secondary: readonly Record<string, number>[] = []): SeedScore[] =>
  values.map((value, seed) => ({ seed, value, secondary: secondary[seed] ?? {} }))

function raceOf(gains: readonly number[], more: Partial<Race> = {}): Race {
  return {
    direction: 'max',
    candidate: scores(gains),
    incumbent: scores(gains.map(() => 0)),
    noise: { sigma: 1, degreesOfFreedom: 20 },
    typicalGain: 0.5,
    linesAdded: 0,
    secondary: [],
    ...more,
  }
}

function decide(rule: KeepRule, race: Race, params: unknown = {}): RaceStep {
  return rule.decide(race, {
    params: rule.params.parse(params),
    signal: new AbortController().signal,
    random: (...path) => draws(...path),
    log() {},
    secret: () => '',
  })
}

const reasonOf = (step: RaceStep) => (step.action === 'run' ? '' : step.reason)

describe('default', () => {
  it.each([
    ['waits for a seed', [], 'run'],
    ['drops a bad first seed', [-0.8], 'discard'],
    ['drops a first seed that shows nothing', [0.1], 'discard'],
    ['goes on with a first seed that shows something', [0.3], 'run'],
    ['keeps nothing on one seed', [50], 'run'],
    ['keeps what is beyond the noise', [1.5, 1.5], 'keep'],
    ['parks a near miss', [0.3, 0.3, 0.6], 'park'],
  ] as const)('%s (RES-203)', (_name, gains, action) => {
    expect(decide(defaultRule, raceOf(gains)).action).toBe(action)
  })

  it('keeps a training at once whose first seed leaves no doubt, where outcomes are known by item (RES-203)', () => {
    const gain = { mean: 0.5, n: 1, sigma: 0.05, item_error: 0.04 }
    const race = raceOf([0.5], { rules: 2, isDear: true, gain })
    expect(decide(defaultRule, race).action).toBe('keep')
    expect(decide(defaultRule, { ...race, gain: { ...gain, sigma: 0.2 } }).action).toBe('run')
    expect(decide(defaultRule, { ...race, gain: { ...gain, item_error: undefined } }).action).toBe('run')
    expect(decide(defaultRule, { ...race, isDear: false }).action).toBe('run')
    expect(decide(defaultRule, race, { preset: 'strict' }).action).toBe('run')
  })

  it('asks for more seeds and evidence where gains are small, or the preset says so (RES-203)', () => {
    const weak = raceOf([0.5, 0.5])
    expect(decide(defaultRule, weak, { preset: 'explore' }).action).toBe('keep')
    expect(decide(defaultRule, weak, { preset: 'strict' }).action).toBe('run')
    expect(decide(defaultRule, { ...weak, typicalGain: 2 }).action).toBe('keep')
    expect(decide(defaultRule, { ...weak, typicalGain: 0.2 }).action).toBe('run')
  })

  it('says how likely a keep is to help, by all that was tried (RES-219)', () => {
    const chance = (gains: readonly number[], tried: Race['tried']) => {
      const race = raceOf(gains, tried === undefined ? {} : { tried })
      const words = reasonOf(decide(defaultRule, race, { preset: 'explore' }))
      return Number(/; (\d+) % likely to help/.exec(words)?.[1])
    }
    const duds = Array.from({ length: 60 }, (_, i) => ({ mean: [-0.4, -0.2, 0, 0.1][i % 4] ?? 0, n: 2, sigma: 1 }))
    expect(chance([0.3, 0.3], undefined)).toBeNaN()
    expect(chance([0.3, 0.3], duds)).toBeLessThan(50)
    expect(chance([4, 4], duds)).toBeGreaterThan(90)
    expect(chance([0.3, 0.3], duds)).toBeLessThan(chance([0.3, 0.3], []))
  })

  it('counts the seeds that only the incumbent ran, where seeds have little in common (RES-220)', () => {
    // The incumbent was lucky on the two shared seeds: on three others it scored 1 less.
    const race = raceOf([0, 0], { incumbent: scores([0, 0, -1, -1, -1]) })
    const noise = { sigma: Math.SQRT2, degreesOfFreedom: 20, seedSd: 1 }
    expect(decide(defaultRule, { ...race, noise: { ...noise, shared: 1 } }, { preset: 'explore' }).action).toBe('park')
    expect(decide(defaultRule, { ...race, noise: { ...noise, shared: 0 } }, { preset: 'explore' }).action).toBe('keep')
  })

  it('tells what it did in words (RES-214)', () => {
    expect(reasonOf(decide(defaultRule, raceOf([1.2, 1.6])))).toBe(
      'Kept (provisional): better on 2 of 2 shared seeds, 1.4x noise.',
    )
    expect(reasonOf(decide(defaultRule, raceOf([-0.8])))).toBe('Discarded: better on 0 of 1 shared seed, -0.8x noise.')
    expect(reasonOf(decide(defaultRule, raceOf([0.3, 0.3, 0.6])))).toBe('Inconclusive: would need about 37 more seeds.')
  })

  it('keeps shorter code that loses less than half the noise, and no longer one (RES-205)', () => {
    const even = [0.2, 0, 0.1, 0.2, 0]
    const race = (linesAdded: number, gains: readonly number[]) => raceOf(gains, { linesAdded, typicalGain: 0 })
    expect(decide(defaultRule, race(-12, even)).action).toBe('keep')
    expect(reasonOf(decide(defaultRule, race(-12, even)))).toMatch(/12 lines fewer at no loss that matters/)
    expect(decide(defaultRule, race(0, even)).action).toBe('park')
    expect(decide(defaultRule, race(-12, [-0.1, -0.1])).action).toBe('run')
    expect(decide(defaultRule, race(-12, [-1.2])).action).toBe('discard')
    expect(decide(defaultRule, race(-12, [-0.3, -0.2, -0.1, -0.2, -0.1])).action).toBe('park')
  })
})

describe('guards', () => {
  const guard = { metric: 'memory_mb', direction: 'min' as const, tolerance: 0.05 }
  const guarded = (before: readonly number[], after: readonly (number | undefined)[]) =>
    raceOf([1.5, 1.5], {
      candidate: scores(
        [1.5, 1.5],
        after.map((value) => (value === undefined ? {} : { memory_mb: value })),
      ),
      incumbent: scores(
        [0, 0],
        before.map((memory_mb) => ({ memory_mb })),
      ),
      secondary: [guard],
    })

  it.each([
    ['within the tolerance', [100, 100], [104, 104], 'keep'],
    ['beyond it', [100, 100], [120, 120], 'discard'],
    ['beyond it by less than noise', [90, 110], [100, 115], 'keep'],
    ['better', [100, 100], [10, 10], 'keep'],
    ['not reported', [100, 100], [100, undefined], 'discard'],
    ['not a number', [100, 100], [100, Number.NaN], 'discard'],
  ] as const)('%s (RES-206)', (_name, before, after, action) => {
    for (const rule of keepPlugins) expect(decide(rule, guarded(before, after)).action).toBe(action)
  })

  it.each([
    // Pooled within the two: variance (8 + 18) / 2, so a mean of 112.21 is two standard errors beyond the 105 that are allowed.
    ['less than two standard errors', [98, 102], [109, 115], 'keep'],
    ['more than two standard errors', [98, 102], [109.3, 115.3], 'discard'],
  ] as const)('beyond the tolerance by %s of seeds that vary (RES-206)', (_name, before, after, action) => {
    expect(decide(defaultRule, guarded(before, after)).action).toBe(action)
  })

  it('take the tolerance as a share of the size of a metric that is negative (RES-206)', () => {
    const race = (after: number) => ({
      ...guarded([-100, -100], [after, after]),
      secondary: [{ ...guard, direction: 'max' as const }],
    })
    expect(decide(defaultRule, race(-104)).action).toBe('keep')
    expect(reasonOf(decide(defaultRule, race(-120)))).toMatch(/memory_mb changed by -20\.0 %, 5\.0 % is allowed/)
  })

  it('says what broke (RES-206)', () => {
    expect(reasonOf(decide(defaultRule, guarded([100, 100], [120, 120])))).toMatch(
      /memory_mb changed by \+20\.0 %, 5\.0 % is allowed/,
    )
  })
})

describe('reference', () => {
  it('spares the second seed when the first is worse than the best mean, and goes by the mean of two (RES-203)', () => {
    const incumbent = scores([0, 2])
    const race = (...values: number[]) => raceOf([], { candidate: scores(values), incumbent })
    expect(decide(referenceRule, race()).action).toBe('run')
    expect(decide(referenceRule, race(0.9)).action).toBe('discard')
    expect(decide(referenceRule, race(1.1)).action).toBe('run')
    expect(decide(referenceRule, race(1.1, 0.8)).action).toBe('discard')
    expect(decide(referenceRule, race(1.1, 1.1)).action).toBe('keep')
  })
})

describe('greedy', () => {
  it('keeps any gain of one run (RES-203)', () => {
    expect(decide(greedyRule, raceOf([1e-9])).action).toBe('keep')
    expect(decide(greedyRule, raceOf([0])).action).toBe('discard')
  })
})

describe('every rule', () => {
  // Eighths add up exactly in any order.
  const eighths = fc.integer({ min: -24, max: 24 }).map((n) => n / 8)
  const pair = fc.array(fc.tuple(eighths, eighths), { minLength: 2, maxLength: 5 })
  const rules = fc.constantFrom<KeepRule>(...keepPlugins)
  const build = (pairs: readonly (readonly number[])[], direction: Direction = 'max', sign = 1) =>
    raceOf([], {
      direction,
      candidate: scores(pairs.map(([value = 0]) => sign * value)),
      incumbent: scores(pairs.map(([, value = 0]) => sign * value)),
    })

  it('judges alike where smaller is better (RES-204)', () => {
    fc.assert(
      fc.property(rules, pair, (rule, pairs) => {
        expect(decide(rule, build(pairs, 'min', -1))).toEqual(decide(rule, build(pairs)))
      }),
    )
  })

  it('decides alike in any unit of the scores (RES-204)', () => {
    fc.assert(
      fc.property(rules, pair, fc.constantFrom(-12, 0, 12), (rule, pairs, linesAdded) => {
        const actionIn = (unit: number) =>
          decide(rule, {
            ...build(pairs, 'max', unit),
            noise: { sigma: unit, degreesOfFreedom: 20 },
            linesAdded,
          }).action
        expect(actionIn(16)).toBe(actionIn(1))
        expect(actionIn(1 / 16)).toBe(actionIn(1))
      }),
    )
  })

  it('does not depend on the order in which seeds were run (RES-204)', () => {
    fc.assert(
      fc.property(pair, fc.infiniteStream(fc.nat()), (pairs, keys) => {
        const race = build(pairs)
        const order = race.candidate.map((score) => ({ score, key: keys.next().value ?? 0 }))
        const candidate = order.sort((a, b) => a.key - b.key).map(({ score }) => score)
        const shuffled = { ...race, candidate, incumbent: [...race.incumbent].reverse() }
        expect(decide(defaultRule, shuffled)).toEqual(decide(defaultRule, race))
      }),
    )
  })

  it('never keeps a candidate with a score that is no number (RES-204)', () => {
    const bad = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
    fc.assert(
      fc.property(
        rules,
        pair,
        bad,
        fc.nat(4),
        fc.constantFrom<Direction>('max', 'min'),
        (rule, pairs, value, at, way) => {
          const race = build(pairs, way)
          const candidate = race.candidate.map((score, i) => (i === at % pairs.length ? { ...score, value } : score))
          expect(decide(rule, { ...race, candidate }).action).toBe('discard')
        },
      ),
    )
  })

  it('reads a score that the incumbent lacks as no pair, never as a gain (RES-204)', () => {
    fc.assert(
      fc.property(pair, fc.constantFrom(Number.NaN, Number.NEGATIVE_INFINITY), (pairs, value) => {
        const race = build(pairs)
        const lacking = race.incumbent.map((score, i) => (i === 0 ? { ...score, value } : score))
        const without = { ...race, candidate: race.candidate.slice(1), incumbent: race.incumbent.slice(1) }
        expect(decide(defaultRule, { ...race, incumbent: lacking })).toEqual(decide(defaultRule, without))
      }),
    )
    for (const rule of [referenceRule, greedyRule]) {
      expect(decide(rule, raceOf([1, 1], { incumbent: [] })).action).toBe('park')
    }
  })
})
