import { describe, expect, it } from 'vitest'
import { meanOf } from '../../stats/index.ts'
import { testEvaluationWords } from './test-evaluation.ts'
import { discardedWords, inconclusiveWords, keptWords, type RaceSeen, seedsStillNeeded } from './verdict-words.ts'

const seen = (pairs: readonly number[], sigma: number): RaceSeen => ({
  pairs,
  gain: { mean: meanOf(pairs), n: pairs.length, sigma },
})

describe('words of a race', () => {
  it('tell seeds and noise (RES-214)', () => {
    expect(keptWords(seen([0.0031, 0.0025], 0.002))).toBe(
      'Kept (provisional): better on 2 of 2 shared seeds, 1.4x noise.',
    )
    expect(keptWords(seen([0.3, 0.3], 1))).toBe(
      'Kept (provisional): better on 2 of 2 shared seeds, 0.3x noise; it may be luck, and fresh seeds decide.',
    )
    expect(discardedWords(seen([-1], 2), 'memory_mb is missing')).toBe(
      'Discarded: better on 0 of 1 shared seed, -0.5x noise; memory_mb is missing.',
    )
    expect(discardedWords(seen([0.2], 1))).toBe(
      'Discarded: better on 1 of 1 shared seed, 0.2x noise; too little to run more seeds.',
    )
    expect(discardedWords({ pairs: [0.1, 0.2], gain: { mean: -0.1, n: 2, sigma: 1 } })).toBe(
      'Discarded: better on 2 of 2 shared seeds, but -0.1x noise against all seeds of the best.',
    )
  })

  it('say how likely a keep is to help, and never that it is certain (RES-219)', () => {
    const kept = (chance: number) => keptWords(seen([0.3, 0.3], 1), { chance })
    expect(kept(0.55)).toBe('Kept (provisional): better on 2 of 2 shared seeds, 0.3x noise; 55 % likely to help.')
    expect(kept(1)).toMatch(/; 99 % likely/)
    expect(kept(0)).toMatch(/; 1 % likely/)
    expect(keptWords(seen([0, 0], 1), { chance: 0.2, why: '12 lines fewer' })).toBe(
      'Kept (provisional): better on 0 of 2 shared seeds, 0.0x noise; 12 lines fewer.',
    )
  })

  it('do not print a ratio to no noise at all (RES-214)', () => {
    expect(keptWords(seen([0.5, 0.5], 1e-12))).toMatch(/far above noise/)
    expect(discardedWords(seen([-0.5], 1e-12))).toMatch(/far below noise/)
  })

  it('tell what would decide a near miss, and what that costs (RES-214)', () => {
    const near = seen([0.8, 0.7, 0.75], 1) // (2.5 / 0.75)^2 = 11.1
    expect(seedsStillNeeded({ mean: 0.75, n: 3, sigma: 1 })).toBe(9)
    expect(inconclusiveWords(near)).toBe('Inconclusive: would need about 9 more seeds.')
    expect(inconclusiveWords(near, { seconds: 300, usd: 1.1 / 9 })).toBe(
      'Inconclusive: would need about 9 more seeds (45 min, $1.10).',
    )
    expect(inconclusiveWords(seen([3, 3], 1))).toBe('Inconclusive: would need about 1 more seed.')
    expect(inconclusiveWords(seen([0.1, -0.1], 1))).toBe(
      'Inconclusive: better on 1 of 2 shared seeds, no gain to be seen.',
    )
  })
})

describe('words of a race on few items', () => {
  it('count the noise of items, ask for no seeds that cannot help, and claim no chance without noise (USE-21)', () => {
    const gain = { mean: 0.017, n: 2, sigma: 0.024, item_error: 0.017 }
    expect(seedsStillNeeded(gain)).toBeNull()
    expect(inconclusiveWords({ pairs: [0.017, 0.017], gain })).toBe(
      'Inconclusive: better on 2 of 2 shared seeds, 0.7x noise; more seeds would not decide it, only more items.',
    )
    expect(seedsStillNeeded({ mean: 0.75, n: 3, sigma: 1, item_error: 0.1 })).toBe(10)
    const bare = { pairs: [0.5, 0.5], gain: { mean: 0.5, n: 2, sigma: 1e-12 } }
    expect(keptWords(bare, { chance: 0.999 })).toBe(
      'Kept (provisional): better on 2 of 2 shared seeds, far above noise; its seeds show no noise, so nothing says how far it holds on other items.',
    )
  })
})

describe('words of a test evaluation', () => {
  const record = {
    number: 1,
    reason: 'end' as const,
    champion: 'a1',
    keeps: 1,
    level: 0.04,
    p: 0.01,
    better: true,
    confirmed: true,
    reported: { gain: 0.0031, n: 6, interval: { lower: 0.0022, upper: 0.004 }, confidence: 0.92, items: 64 },
  }

  it('give the change of the metric and its error (RES-214)', () => {
    expect(testEvaluationWords(record, 6, { direction: 'min', metric: 'val_bpb' })).toBe(
      'Confirmed on 6 new seeds, hidden test set of 64 items: val_bpb -0.00310 ± 0.00090 against the baseline (92 % interval).',
    )
    expect(
      testEvaluationWords({ ...record, better: false, confirmed: false }, 6, {
        direction: 'max',
        metric: 'accuracy',
        unit: 'points',
      }),
    ).toBe(
      'Not confirmed on 6 new seeds, hidden test set of 64 items: accuracy +0.00310 ± 0.00090 points against the baseline (92 % interval).',
    )
  })
})
