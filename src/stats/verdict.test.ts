import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { simulateExperiment } from '../../tests/simulated-experiment.ts'
import { judgeArms } from './judge-arms.ts'
import { holm } from './multiple-comparisons.ts'
import type { ArmScores, Cell } from './pair-scores.ts'
import { comparePaired, type PairedComparison } from './paired-comparison.ts'
import { tQuantile, tTail } from './student-t.ts'
import { judge, verdictOf } from './verdict.ts'

const random = draws('verdict')
const arm = (cells_S_T: readonly (readonly Cell[])[], firstSeed = 0): ArmScores => ({
  seeds: cells_S_T.map((_, s) => firstSeed + s),
  ...(cells_S_T[0]?.length === 1 ? {} : { tasks: (cells_S_T[0] ?? []).map((_, t) => `task ${t}`) }),
  cells_S_T,
})
const column = (scores: readonly number[], firstSeed = 0) =>
  arm(
    scores.map((score) => [score]),
    firstSeed,
  )
const zeros = (n: number) => new Array<number>(n).fill(0)
const gains = (scores: readonly number[], minEffect = 0, firstSeed = 0): PairedComparison =>
  comparePaired({
    treatment: column(scores, firstSeed),
    baseline: column(zeros(scores.length), firstSeed),
    direction: 'max',
    minEffect,
    random,
  })

describe('verdictOf', () => {
  it('supports above, refutes below, and is open between (STA-15)', () => {
    expect(verdictOf(gains([0.05, 0.06, 0.04], 0.02))).toMatchObject({ verdict: 'supported', reason: 'above' })
    expect(verdictOf(gains([0.01, 0.0, 0.005], 0.02))).toMatchObject({ verdict: 'refuted', reason: 'below' })
    expect(verdictOf(gains([0.05, 0.01, 0.03], 0.02))).toMatchObject({ verdict: 'inconclusive', reason: 'undecided' })
  })

  it('is the rule of the interval, whatever the numbers (STA-15)', () => {
    const scores = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(scores, fc.double({ min: 0, max: 0.5, noNaN: true }), (values, minEffect) => {
        const comparison = gains(values, minEffect)
        const { verdict, seedsStillNeeded } = verdictOf(comparison)
        const { interval } = comparison
        expect(verdict === 'supported').toBe(interval !== null && interval.lower > minEffect)
        expect(verdict === 'refuted').toBe(interval !== null && interval.upper < minEffect)
        if (verdict !== 'inconclusive') expect(seedsStillNeeded).toBeNull()
        if (seedsStillNeeded !== null) expect(seedsStillNeeded).toBeGreaterThanOrEqual(1)
      }),
    )
  })

  it('leaves open what the interval only touches (STA-15)', () => {
    const comparison = gains([0.05, 0.01, 0.03], 0.02)
    const at = (lower: number, upper: number) => judge(comparison, { lower, upper, confidence: 0.9 }).verdict
    expect([at(0.02, 0.05), at(0.0201, 0.05)]).toEqual(['inconclusive', 'supported'])
    expect([at(-0.01, 0.02), at(-0.01, 0.0199)]).toEqual(['inconclusive', 'refuted'])
  })

  it('says how many more seeds would decide: those needed less those there are, at least one (STA-15)', () => {
    const comparison = gains([0.05, 0.01, 0.03], 0.02)
    const still = (seedsNeeded: number | null) => verdictOf({ ...comparison, seedsNeeded }).seedsStillNeeded
    expect([still(11), still(4), still(3), still(2), still(null)]).toEqual([8, 1, 1, 1, null])
  })

  it('blames lost scores only where they alone could decide (STA-14)', () => {
    const comparison = gains([0.05, 0.01, 0.03], 0.02) // an effect of 0.03, so 0.01 beyond
    const reason = (unknown: number, effect = 0.03) => verdictOf({ ...comparison, unknown, effect }).reason
    expect([reason(0), reason(0.009), reason(0.011)]).toEqual(['undecided', 'undecided', 'lost_scores'])
    expect([reason(0, 0.02), reason(0.009, 0.01), reason(0.011, 0.01)]).toEqual([
      'undecided',
      'undecided',
      'lost_scores',
    ])
    expect(verdictOf({ ...comparison, unknown: 0.011, seedsNeeded: 9 }).seedsStillNeeded).toBeNull()
  })

  it('supports nothing on one seed, however large and however many tasks (STA-15)', () => {
    const many = new Array<number>(500).fill(1)
    const one = comparePaired({ treatment: arm([many]), baseline: arm([many.map(() => 0)]), direction: 'max', random })
    expect(verdictOf(one)).toMatchObject({ verdict: 'inconclusive', reason: 'one_seed' })
    expect(one).toMatchObject({ seedInterval: null, error: { over: 'tasks' } })
  })

  it('supports nothing on equal values, which are one observation (STA-15)', () => {
    expect(verdictOf(gains([0.1, 0.1, 0.1, 0.1]))).toMatchObject({
      verdict: 'inconclusive',
      reason: 'no_variation',
      seedsStillNeeded: null,
    })
  })

  it('is not fooled by last digits: equal on paper is equal (STA-15)', () => {
    const scores = [0.1, 0.3, 0.7, 0.9]
    const better = scores.map((score) => score + 0.02)
    expect(new Set(better.map((score, i) => score - (scores[i] ?? 0))).size).toBeGreaterThan(1)
    const options = { direction: 'max', random } as const
    const seedsAlone = comparePaired({ treatment: column(better), baseline: column(scores), ...options })
    expect(verdictOf(seedsAlone)).toMatchObject({ verdict: 'inconclusive', reason: 'no_variation' })
    const byTask = comparePaired({
      treatment: arm([better, better]),
      baseline: arm([scores, scores]),
      resolution: 1e-13,
      ...options,
    })
    expect(verdictOf(byTask)).toMatchObject({ verdict: 'inconclusive', reason: 'no_variation' })
  })

  it('supports a deterministic metric only as far as its tasks carry it (STA-15)', () => {
    const row = (solved: number, nTasks: number) => Array.from({ length: nTasks }, (_, t) => Number(t < solved))
    const judge = (gain: number, nTasks: number) => {
      const treatment = arm([row(gain, nTasks), row(gain, nTasks), row(gain, nTasks)])
      const baseline = arm([row(0, nTasks), row(0, nTasks), row(0, nTasks)])
      return verdictOf(comparePaired({ treatment, baseline, direction: 'max', random })).verdict
    }
    expect(judge(50, 200)).toBe('supported')
    expect(judge(1, 5)).toBe('inconclusive')
    expect(judge(1, 200)).toBe('inconclusive')
  })

  it('says how many seeds are missing, and that is enough most of the time (STA-10)', () => {
    const values = [0.05, 0.01, 0.03]
    const { seedsStillNeeded } = verdictOf(gains(values, 0.02))
    expect(seedsStillNeeded).toBeGreaterThan(5)
    expect(seedsStillNeeded).toBeLessThan(50)
  })

  it('blames lost scores when they hold the answer (STA-14)', () => {
    const lost = { lower: 0, upper: 1 }
    const comparison = comparePaired({
      treatment: arm([
        [1, lost, 1],
        [lost, 1, 0],
        [1, 1, lost],
      ]),
      baseline: arm([
        [1, 0, 1],
        [0, 1, 1],
        [1, 1, 0],
      ]),
      direction: 'max',
      random,
    })
    expect(verdictOf(comparison)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'lost_scores',
      seedsStillNeeded: null,
    })
  })
})

describe('judgeArms', () => {
  it('with one arm is the plain verdict (STA-16)', () => {
    const comparison = gains([0.05, 0.06, 0.04])
    const [only] = judgeArms([{ arm: 'a', comparison }])
    expect(only?.verdict).toBe(verdictOf(comparison).verdict)
    expect(only?.interval?.lower).toBeCloseTo(comparison.interval?.lower ?? Number.NaN, 10)
  })

  it('asks more of each arm when there are many (STA-16)', () => {
    const fair = gains([0.03, 0.06, 0.02, 0.05])
    expect(verdictOf(fair).verdict).toBe('supported')
    const dull = gains([0.01, -0.02, 0.02, 0])
    const crowd = judgeArms([
      { arm: 'fair', comparison: fair },
      ...[1, 2, 3, 4, 5].map((i) => ({ arm: `dull ${i}`, comparison: dull })),
    ])
    expect(crowd[0]?.verdict).toBe('inconclusive')
    expect(crowd[0]?.interval?.lower).toBeLessThan(fair.interval?.lower ?? Number.NaN)
  })

  it('steps down: a strong arm spares the next one (STA-16)', () => {
    const strong = gains([0.5, 0.51, 0.49, 0.5, 0.505])
    const fair = gains([0.03, 0.07, 0.02, 0.05, 0.03])
    const [, second] = judgeArms([
      { arm: 'strong', comparison: strong },
      { arm: 'fair', comparison: fair },
    ])
    expect(second?.interval?.lower).toBeCloseTo(fair.interval?.lower ?? Number.NaN, 10)
  })

  it('widens each end by its own step of Holm, and by what is lost and cannot be resolved (STA-16)', () => {
    // By hand: above 0.1 the first is certain, so the second is tested alone; below it neither is, so both keep half the level.
    const bySeed = (scores: readonly number[]) => {
      const comparison = gains(scores, 0.1)
      if (comparison.error === null) throw new Error('there is an error')
      return { ...comparison, unknown: 0.002, error: { ...comparison.error, grain: 0.001 } }
    }
    const [strong, fair] = [bySeed([0.5, 0.51, 0.49, 0.5, 0.505]), bySeed([0.11, 0.13, 0.15, 0.12, 0.14])]
    const arms = judgeArms([
      { arm: 'strong', comparison: strong },
      { arm: 'fair', comparison: fair },
    ])
    const reach = ({ error: { standardError, df } }: ReturnType<typeof bySeed>, tail: number) =>
      0.003 + tQuantile(1 - tail, df) * standardError
    expect(arms.map(({ interval }) => interval)).toEqual([
      {
        lower: expect.closeTo(strong.effect - reach(strong, 0.025), 12),
        upper: expect.closeTo(strong.effect + reach(strong, 0.025), 12),
        confidence: expect.closeTo(0.95, 12),
      },
      {
        lower: expect.closeTo(fair.effect - reach(fair, 0.05), 12),
        upper: expect.closeTo(fair.effect + reach(fair, 0.025), 12),
        confidence: expect.closeTo(0.925, 12),
      },
    ])
  })

  it('stops at the first arm that fails, on either side of the smallest effect (STA-16)', () => {
    const tailsOf = (scores: readonly (readonly number[])[]) =>
      judgeArms(scores.map((one, i) => ({ arm: `arm ${i}`, comparison: gains(one, 0.1) }))).map(({ interval }, i) => {
        const { effect, error } = gains(scores[i] ?? [], 0.1)
        if (error === null || interval === null) throw new Error('there is an error')
        const tail = (reach: number) => Number(tTail(reach / error.standardError, error.df).toFixed(6))
        return [tail(effect - interval.lower), tail(interval.upper - effect)]
      })
    const [high, low, open] = [
      [0.5, 0.51, 0.49, 0.5],
      [-0.5, -0.51, -0.49, -0.5],
      [0.3, -0.2, 0.1, 0.21],
    ] as const
    const third = Number((0.05 / 3).toFixed(6))
    expect(tailsOf([open, high, open])).toEqual([
      [0.025, third],
      [third, third],
      [0.025, third],
    ])
    expect(tailsOf([low, open, low])).toEqual([
      [third, third],
      [third, 0.05],
      [third, 0.025],
    ])
  })

  it('asks for one confidence, and takes it from the arms (STA-16)', () => {
    const at = (confidence: number, shift = 0) =>
      comparePaired({
        treatment: column([0.05 + shift, 0.06, 0.04]),
        baseline: column(zeros(3)),
        direction: 'max',
        confidence,
        random,
      })
    const arms = (...levels: number[]) =>
      levels.map((level, i) => ({ arm: `arm ${i}`, comparison: at(level, i / 100) }))
    expect(() => judgeArms(arms(0.9, 0.9, 0.5))).toThrow('need one confidence')
    expect(judgeArms(arms(0.5))[0]?.interval?.confidence).toBeCloseTo(0.5, 12)
    expect(judgeArms([])).toEqual([])
  })

  it('supports exactly what Holm rejects (STA-16)', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 2, max: 6 }), (seed, n) => {
        const chance = draws('holm', seed)
        const arms = Array.from({ length: n }, (_, i) => {
          const gain = 2 * chance.float()
          return { arm: `arm ${i}`, comparison: gains(Array.from({ length: 5 }, () => gain + chance.normal())) }
        })
        const pValues = arms.map(({ comparison: { effect, error } }) =>
          tTail(effect / (error?.standardError ?? 0), error?.df ?? 0),
        )
        const rejected = holm(pValues).map((p) => p < 0.05)
        expect(judgeArms(arms).map(({ verdict }) => verdict === 'supported')).toEqual(rejected)
      }),
    )
  })

  it('never supports an arm that would not be supported alone, and one bad arm harms no other order (STA-16)', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 5 }), (seed, n) => {
        const chance = draws('arms', seed)
        const arms = Array.from({ length: n }, (_, i) => ({
          arm: `arm ${i}`,
          comparison: comparePaired({
            ...simulateExperiment({ seeds: 4, tasks: 12, gain: 1.5 * chance.float() }, chance),
            direction: 'max',
            random,
          }),
        }))
        const together = judgeArms(arms)
        for (const [i, { comparison }] of arms.entries()) {
          if (together[i]?.verdict === 'supported') expect(verdictOf(comparison).verdict).toBe('supported')
          if (together[i]?.verdict === 'refuted') expect(verdictOf(comparison).verdict).toBe('refuted')
        }
        const reversed = judgeArms([...arms].reverse())
        expect(reversed.map(({ verdict }) => verdict).reverse()).toEqual(together.map(({ verdict }) => verdict))
      }),
    )
  })

  it('judges only by one confidence (STA-16)', () => {
    const other = { ...gains([1, 2]), confidence: 0.5 }
    expect(() =>
      judgeArms([
        { arm: 'a', comparison: gains([1, 2]) },
        { arm: 'b', comparison: other },
      ]),
    ).toThrow(/confidence/)
  })
})
