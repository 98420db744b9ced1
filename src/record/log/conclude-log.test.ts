import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changesSeedAlone, logGains, type ScoredRow } from './conclude-log.ts'

const row = (status: ScoredRow['status'], score: number | undefined, description = ''): ScoredRow => ({
  name: 'x',
  status,
  score,
  description,
})

describe('changesSeedAlone', () => {
  it.each([
    'random seed 42 to 137',
    'seed 1 -> 2',
    'Only the seed changed',
    'rerun with another seed',
    'baseline, new seed',
    'seed=7',
  ])('%s (CLI-19)', (text) => expect(changesSeedAlone(text)).toBe(true))

  it.each(['learning rate 0.1', 'seed the embedding with zeros', 'new seed and warmup 5%', '', 'rerun', 'seedling'])(
    'not: %s (CLI-19)',
    (text) => expect(changesSeedAlone(text)).toBe(false),
  )
})

describe('logGains', () => {
  it('counts gains over the kept row before, and those below the noise (CLI-19)', () => {
    const gains = logGains(
      [
        row('keep', 10),
        row('discard', 9.5, 'seed 1 to 2'),
        row('crash', undefined),
        row('keep', 8),
        row('discard', 8.3, 'another seed'),
        row('keep', 7.9),
        row('keep', 8),
      ],
      'loss',
    )
    expect(gains.direction).toBe('min')
    expect(gains.gains.map(({ gain }) => gain)).toEqual([2, expect.closeTo(0.1), expect.closeTo(-0.1)])
    expect(gains.noise?.size).toBeCloseTo(Math.sqrt((0.25 + 0.09) / 2))
    expect(gains.lucky).toEqual({ count: 2, sum: expect.closeTo(0) })
    expect(gains.counts).toEqual({ keep: 4, discard: 2, crash: 1 })
  })

  it('a seed row before anything was kept is no measure (CLI-19)', () => {
    const rows = [row('discard', 5, 'seed 1 to 2'), row('keep', 4), row('keep', 3)]
    expect(logGains(rows, 'loss').noise).toBeUndefined()
  })

  it('gains add up to the way from the first kept score to the last (CLI-19)', async () => {
    const rows = fc.array(
      fc.record({
        status: fc.constantFrom('keep' as const, 'discard' as const),
        score: fc.integer({ min: -1000, max: 1000 }),
        description: fc.constantFrom('x', 'seed 1 to 2'),
      }),
      { minLength: 1 },
    )
    await fc.assert(
      fc.property(rows, fc.constantFrom('min' as const, 'max' as const), (list, direction) => {
        const { gains, from, to, lucky, noise } = logGains(
          list.map((each) => ({ ...each, name: 'x' })),
          'score',
          direction,
        )
        const total = gains.reduce((sum, { gain }) => sum + gain, 0)
        const way = (to ?? 0) - (from ?? 0)
        expect(total).toBeCloseTo(direction === 'max' ? way : -way)
        expect(lucky === undefined).toBe(noise === undefined)
        if (lucky !== undefined) expect(lucky.count).toBeLessThanOrEqual(gains.length)
      }),
    )
  })
})
