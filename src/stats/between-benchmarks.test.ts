import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { betweenBenchmarks, mixParts } from './between-benchmarks.ts'
import { compareBetween } from './compare-between.ts'
import { judgeArms, oneSidedP } from './judge-arms.ts'
import { verdictOf } from './verdict.ts'

const rates = { easy: 0.9, hard: 0.4 }

/** Right-or-wrong answers: a task has a rate around that of its label, answers of seeds are drawn from it. */
function draw(random: { float(): number }, shares: number, tasks: number, seeds: readonly number[], drop = 0) {
  const labels = Array.from({ length: tasks }, () => (random.float() < shares ? 'easy' : 'hard') as keyof typeof rates)
  const sure = labels.map((label) => random.float() < rates[label] - drop)
  const cells_S_T = seeds.map(() => sure.map((right) => Number(random.float() < 0.1 ? random.float() < 0.5 : right)))
  return { labels, scores: { seeds, tasks: labels.map((_, t) => String(t)), cells_S_T } }
}
// One answer in ten is a coin: what is expected of a rate.
const expectedOf = (rate: number) => 0.9 * rate + 0.05

describe('the difference of an arm between two benchmarks', () => {
  it.each([
    { seeds: [1, 2, 3], drop: 0 },
    { seeds: [1, 2, 3], drop: 0.15 },
    { seeds: [1], drop: 0.1 },
  ])('covers the truth, in whole and in parts, for a known shift of the mix: %o (USE-119)', ({ seeds, drop }) => {
    const random = draws('between-benchmarks')
    const n = 400
    const truth = {
      mix: expectedOf(0.3 * 0.9 + 0.7 * 0.4) - expectedOf(0.8 * 0.9 + 0.2 * 0.4),
      within: -0.9 * drop,
    }
    const covered = { whole: 0, mix: 0, within: 0 }
    const holds = (interval: { lower: number; upper: number } | null, value: number) =>
      Number(interval !== null && interval.lower <= value && value <= interval.upper)
    for (let k = 0; k < n; k++) {
      const first = draw(random, 0.8, 120, seeds)
      const second = draw(random, 0.3, 80, seeds, drop)
      const labels = { first: first.labels, second: second.labels }
      const whole = betweenBenchmarks(first.scores, second.scores, { confidence: 0.9 })
      const { mix, within } = mixParts(first.scores, second.scores, labels, 0.9)
      expect(mix.effect + within.effect).toBeCloseTo(whole.effect)
      covered.whole += holds(whole.interval, truth.mix + truth.within)
      covered.mix += holds(mix.interval, truth.mix)
      covered.within += holds(within.interval, truth.within)
    }
    for (const count of Object.values(covered)) {
      expect(count / n).toBeGreaterThan(0.86)
      expect(count / n).toBeLessThan(0.96)
    }
  })

  it('a label that is new counts as change within, and the parts still add up (USE-119)', () => {
    const first = {
      seeds: [1, 2],
      tasks: ['a', 'b', 'c', 'd'],
      cells_S_T: [
        [1, 1, 0, 1],
        [1, 1, 0, 1],
      ],
    }
    const second = {
      seeds: [1, 2],
      tasks: ['e', 'f'],
      cells_S_T: [
        [1, 0],
        [1, 0],
      ],
    }
    const labels = { first: ['x', 'x', 'y', 'y'], second: ['x', 'new'] }
    const { mix, within, labels: found } = mixParts(first, second, labels, 0.9)
    // x at 1, the new label at the whole of 0.75.
    expect(mix.effect).toBeCloseTo((1 + 0.75) / 2 - 0.75)
    expect(within.effect).toBeCloseTo((0 + (0 - 0.75)) / 2)
    expect(found).toEqual([
      { label: 'new', shares: [0, 0.5], scores: [null, 0] },
      { label: 'x', shares: [0.5, 0.5], scores: [1, 1] },
      { label: 'y', shares: [0.5, 0], scores: [0.5, null] },
    ])
  })

  it('pairs seeds: what moves both benchmarks by the same is no uncertainty of the drop (USE-119)', () => {
    const moves = [0, 0.2, 0.4]
    const table = (level: number) => moves.map((move) => [0.01, -0.01, 0.02, 0].map((task) => level + move + task))
    const seeds = [1, 2, 3]
    const tasks = ['a', 'b', 'c', 'd']
    const { effect, interval } = betweenBenchmarks(
      { seeds, tasks, cells_S_T: table(0.5) },
      { seeds, tasks, cells_S_T: table(0.4) },
      { confidence: 0.9 },
    )
    expect(effect).toBeCloseTo(-0.1)
    expect(interval?.upper).toBeLessThan(-0.05)
  })

  it.each([
    { rates: [0.99, 0.9], tasks: 30 },
    { rates: [0.97, 0.97], tasks: 20 },
    { rates: [0.5, 0.4], tasks: 20 },
  ])('covers a difference of shares near their bounds: %o (USE-119)', ({ rates: [p = 0, q = 0], tasks }) => {
    const random = draws('between-benchmarks')
    const side = (rate: number) => {
      const row = Array.from({ length: tasks }, () => Number(random.float() < rate))
      return { seeds: [1, 2], tasks: row.map((_, t) => String(t)), cells_S_T: [row, row] }
    }
    const n = 600
    let covered = 0
    for (let k = 0; k < n; k++) {
      const { interval } = betweenBenchmarks(side(p), side(q), { confidence: 0.9, range: [0, 1] })
      if (interval !== null && interval.lower <= q - p && q - p <= interval.upper) covered++
    }
    expect(covered / n).toBeGreaterThan(0.86)
  })

  it('of answers that are all right is as wide as so many tasks leave it (USE-119)', () => {
    const side = (tasks: number) => {
      const row = Array.from({ length: tasks }, () => 1)
      return { seeds: [1, 2], tasks: row.map((_, t) => String(t)), cells_S_T: [row, row] }
    }
    const { effect, interval } = betweenBenchmarks(side(20), side(10), { confidence: 0.9, range: [0, 1] })
    expect(effect).toBe(0)
    expect(interval?.lower).toBeLessThan(-0.1)
    expect(interval?.upper).toBeGreaterThan(0.05)
  })
})

describe('a claim between two benchmarks', () => {
  const claimed = (minEffect: number, drop: number, seeds: readonly number[], name: string, n = 300) => {
    const random = draws(name)
    const counts = { supported: 0, refuted: 0, inconclusive: 0 }
    for (let k = 0; k < n; k++) {
      const baseline = draw(random, 0.5, 120, seeds).scores
      const treatment = draw(random, 0.5, 80, seeds, drop).scores
      const options = { treatment, baseline, direction: 'max' as const, minEffect, confidence: 0.9, random }
      const comparison = compareBetween({ ...options, range: [0, 1] })
      const { verdict, interval } = verdictOf(comparison)
      counts[verdict] += 1
      // A verdict follows from the p-value that Holm adjusts, and the other way round.
      expect(oneSidedP(comparison, 1) < 0.05).toBe(verdict === 'supported')
      expect(interval?.lower === undefined ? null : interval.lower > minEffect).toBe(verdict === 'supported')
      const judged = judgeArms([
        { arm: 'a', comparison },
        { arm: 'b', comparison },
      ])
      expect(judged.every((each) => (each.interval?.lower ?? -1) <= (interval?.lower ?? 0))).toBe(true)
    }
    return { supported: counts.supported / n, refuted: counts.refuted / n }
  }

  it.each([[[1, 2, 3]], [[1, 2]]])('is falsely supported, or refuted, in 5 of 100 at most: %j (USE-530)', (seeds) => {
    // At the very drop that is allowed: 5 % and three errors of 300 draws.
    const { supported, refuted } = claimed(-0.09, 0.1, seeds, 'claims-between')
    expect(supported).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 300))
    expect(refuted).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 300))
  })

  it('finds that most of a drop that is there is there, and that none is lost where none is (USE-530)', () => {
    expect(claimed(-0.1, 0.45, [1, 2, 3], 'claims-large', 60).refuted).toBeGreaterThan(0.9)
    expect(claimed(-0.25, 0, [1, 2, 3], 'claims-none', 60).supported).toBeGreaterThan(0.9)
  })

  it('is the other way round where less is better, and one seed decides nothing (USE-530)', () => {
    const random = draws('claims-min')
    const seeds = [1, 2, 3]
    const [a, b] = [draw(random, 0.9, 100, seeds).scores, draw(random, 0.1, 60, seeds).scores]
    const options = { treatment: b, baseline: a, minEffect: 0, confidence: 0.9, random }
    const [more, less] = (['max', 'min'] as const).map((direction) => compareBetween({ ...options, direction }))
    expect([more?.effect, less?.effect].map((each) => Math.sign(each ?? 0))).toEqual([-1, 1])
    expect(less?.interval?.lower).toBeCloseTo(-(more?.interval?.upper ?? 0))
    expect([verdictOf(more ?? fail()).verdict, verdictOf(less ?? fail()).verdict]).toEqual(['refuted', 'supported'])
    const one = [draw(random, 0.9, 100, [1]).scores, draw(random, 0.1, 60, [1]).scores] as const
    const single = compareBetween({ ...options, baseline: one[0], treatment: one[1], direction: 'min' })
    expect(verdictOf(single)).toMatchObject({ verdict: 'inconclusive', reason: 'one_seed' })
    expect(single.interval?.lower).toBeGreaterThan(0)
  })

  it('where every answer is right on both, reaches as far as so many tasks leave it (USE-530)', () => {
    const all = (n: number) => ({
      seeds: [1, 2],
      tasks: Array.from({ length: n }, (_, t) => String(t)),
      cells_S_T: [Array<number>(n).fill(1), Array<number>(n).fill(1)],
    })
    const options = { direction: 'max' as const, confidence: 0.9, range: [0, 1] as const, random: draws('even') }
    const found = compareBetween({ ...options, baseline: all(40), treatment: all(20), minEffect: -0.05 })
    expect(found.effect).toBe(0)
    expect(found.interval?.lower).toBeLessThan(-0.05)
    expect(verdictOf(found).verdict).toBe('inconclusive')
    const many = compareBetween({ ...options, baseline: all(400), treatment: all(300), minEffect: -0.05 })
    expect(verdictOf(many).verdict).toBe('supported')
    expect(oneSidedP(many, 1)).toBeLessThan(0.05)
  })
})

function fail(): never {
  throw new Error('there is no comparison')
}
