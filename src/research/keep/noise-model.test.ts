import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import { compareByNoise, learnNoise, type MeasuredCandidate } from './noise-model.ts'

/** Candidates from a loss of 1 down to 0.0001, two seeds each and five of the first. */
function session(sdAt: (loss: number) => number): MeasuredCandidate[] {
  const random = draws('noise model')
  return Array.from({ length: 25 }, (_, i) => {
    const loss = 10 ** (-i / 6)
    const scores = Array.from({ length: i === 0 ? 5 : 2 }, (_, seed) => ({
      seed,
      value: loss + sdAt(loss) * random.normal(),
    }))
    return { scores }
  })
}

describe('noise that is learned', () => {
  it('shrinks with the loss where it is a share of it, and stays where it is not (RES-530)', () => {
    const relative = learnNoise(
      session((loss) => 0.05 * loss),
      'min',
    )
    const absolute = learnNoise(
      session(() => 1e-5),
      'min',
    )
    for (const loss of [1, 0.1, 0.01, 0.001]) {
      expect(Math.sqrt(relative.at(loss).variance) / (0.05 * loss)).toBeGreaterThan(1 / 2.5)
      expect(Math.sqrt(relative.at(loss).variance) / (0.05 * loss)).toBeLessThan(2.5)
      expect(Math.sqrt(absolute.at(loss).variance)).toBeGreaterThan(1e-5 / 2.5)
      expect(Math.sqrt(absolute.at(loss).variance)).toBeLessThan(2.5e-5)
    }
    expect(relative.at(0.01).df).toBeGreaterThan(4)
  })

  it('compares with a baseline that scores 0 on all seeds: another 0 is no gain, and anything else is one (RES-530)', () => {
    const scoresOf = (value: number) => [1, 2].map((seed) => ({ seed, value }))
    const [zero, one] = [scoresOf(0), scoresOf(0.5)]
    const noise = learnNoise([{ scores: zero }, { scores: zero }], 'max')
    const same = compareByNoise({ direction: 'max', candidate: zero, incumbent: zero, noise })
    expect([same?.mean, (same?.mean ?? 1) / (same?.sigma ?? 0)]).toEqual([0, 0])
    const better = compareByNoise({ direction: 'max', candidate: one, incumbent: zero, noise })
    expect(better?.mean).toBeCloseTo(0.5)
    expect((better?.mean ?? 0) / (better?.sigma ?? 0)).toBeGreaterThan(1e6)
    expect(Number.isFinite((better?.mean ?? 0) / (better?.sigma ?? 0))).toBe(true)
  })

  it('is the same in any unit, and mirrored (RES-530)', () => {
    const candidates = session(() => 0.02)
    const times = (factor: number) =>
      candidates.map(({ scores }) => ({
        scores: scores.map((each) => ({ ...each, value: factor * Number(each.value) })),
      }))
    const sd = (factor: number, direction: 'min' | 'max') =>
      Math.sqrt(learnNoise(times(factor), direction).at(0.5 * factor).variance) / Math.abs(factor)
    expect(sd(1024, 'min')).toBeCloseTo(sd(1, 'min'), 8)
    expect(sd(-1, 'max')).toBeCloseTo(sd(-1024, 'max'), 8)
  })

  it('takes one seed for as noisy as its score, and no noise at all for a task that has none (RES-530)', () => {
    const one = learnNoise([{ scores: [{ seed: 1, value: 3 }] }], 'min')
    expect(Math.sqrt(one.at(3).variance)).toBeCloseTo(3)
    const same = [1, 2].map((seed) => ({ seed, value: 3 }))
    expect(Math.sqrt(learnNoise([{ scores: same }], 'min').at(3).variance)).toBeLessThan(1e-9)
    expect(Number.isFinite(learnNoise([], 'min').at(3).variance)).toBe(true)
  })

  it('is that of half an item at a score of 0, whatever the seeds say (RES-540)', () => {
    const answers = (right: number) => Array.from({ length: 200 }, (_, i) => Number(i < right))
    const scored = (...right: number[]) => ({
      scores: right.map((n, seed) => ({ seed, value: n / 200, items: answers(n) })),
    })
    const noise = learnNoise([scored(0, 0, 0)], 'max')
    expect(Math.sqrt(noise.at(0).variance)).toBe(0.5 / 200)
    // One item more is no gain beyond chance, twenty are.
    const z = (right: number) => {
      const [candidate, incumbent] = [scored(right).scores, scored(0, 0, 0).scores]
      const gain = compareByNoise({ direction: 'max', candidate, incumbent, noise })
      return (gain?.mean ?? 0) / ((gain?.sigma ?? 0) / Math.sqrt(gain?.n ?? 1))
    }
    expect(z(1)).toBeLessThan(2)
    expect(z(20)).toBeGreaterThan(4)
    expect(Math.sqrt(learnNoise([scored(0, 0, 0), scored(20, 26)], 'max').at(0.1).variance)).toBeGreaterThan(0.005)
  })

  it('believes in what seeds have in common as pairs show it (RES-530)', () => {
    const random = draws('shared')
    const pairsOf = (own: number) => Array.from({ length: 3 }, () => own * random.normal())
    const candidates = session(() => 0.02)
    const alike = candidates.map((each) => ({ ...each, pairs: pairsOf(0.002) }))
    const apart = candidates.map((each) => ({ ...each, pairs: pairsOf(0.02 * Math.SQRT2) }))
    expect(learnNoise(alike, 'min').shared).toBeGreaterThan(0.8)
    expect(learnNoise(apart, 'min').shared).toBeLessThan(0.4)
  })
})

describe('a gain by learned noise', () => {
  const noise = (shared: number) => ({ at: () => ({ variance: 4, df: 10 }), shared })
  const scores = (values: Record<number, number>) =>
    Object.entries(values).map(([seed, value]) => ({ seed: Number(seed), value }))
  const compare = (own: Record<number, number>, other: Record<number, number>, shared: number) => {
    const gain = compareByNoise({
      direction: 'max',
      candidate: scores(own),
      incumbent: scores(other),
      noise: noise(shared),
    })
    return gain && { mean: gain.mean, error: gain.sigma / Math.sqrt(gain.n) }
  }

  it('is that of pairs where seeds decide all, and that of means where they decide nothing (RES-531)', () => {
    const pairs = compare({ 1: 5, 2: 9 }, { 1: 4, 2: 8, 3: 100 }, 0.95)
    expect(pairs?.mean).toBeCloseTo(1, -1)
    expect(Math.abs((pairs?.mean ?? 0) - 1)).toBeLessThan(6) // a little of the third seed is left
    expect(compare({ 1: 5, 2: 9 }, { 1: 4, 2: 8, 3: 6 }, 0)).toEqual({
      mean: expect.closeTo(1, 10),
      error: expect.closeTo(Math.sqrt(4 / 2 + 4 / 3), 10),
    })
    expect(compare({ 1: 5, 2: 9 }, { 1: 4, 2: 8 }, 0.75)).toEqual({
      mean: expect.closeTo(1, 10),
      error: expect.closeTo(Math.sqrt((2 * 4 * 0.25) / 2), 10),
    })
  })

  it('needs no shared seed, and a score on both sides (RES-531)', () => {
    expect(compare({ 1: 5 }, { 2: 4 }, 0.5)).toEqual({ mean: expect.closeTo(1), error: expect.closeTo(Math.sqrt(8)) })
    expect(compare({}, { 2: 4 }, 0.5)).toBeUndefined()
  })
})
