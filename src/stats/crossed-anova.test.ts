import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { scaled } from '../../tests/scale.ts'
import { type CrossedAnova, crossedAnova, fQuantile, overBoth, overSeeds } from './crossed-anova.ts'

describe('crossedAnova', () => {
  it('gives the mean squares of Shrout and Fleiss (STA-13)', () => {
    // Shrout and Fleiss (1979), "Intraclass correlations", tables 2 and 3: six targets rated by four judges, both random.
    const { seed, task, residual, variance, mean } = crossedAnova([
      [9, 2, 5, 8],
      [6, 1, 3, 2],
      [8, 4, 6, 8],
      [7, 1, 2, 6],
      [10, 5, 6, 9],
      [6, 2, 4, 7],
    ])
    expect([seed?.value, task?.value, residual?.value].map((x) => x?.toFixed(2))).toEqual(['11.24', '32.49', '1.02'])
    expect([seed?.df, task?.df, residual?.df]).toEqual([5, 3, 15])
    // Their ICC(2,1) = 0.29 is the targets' share of all variance.
    const total = (variance.seed ?? 0) + (variance.task ?? 0) + (variance.residual ?? 0)
    expect(((variance.seed ?? 0) / total).toFixed(2)).toBe('0.29')
    expect(mean).toBeCloseTo(127 / 24, 12)
  })

  it('gives the sums of squares of Box, Hunter and Hunter’s penicillin blends (STA-13)', () => {
    // Box, Hunter, Hunter (1978), Statistics for Experimenters, section 7.2: blends 264 on 4, treatments 70 on 3, residual 226 on 12.
    const { seed, task, residual } = crossedAnova([
      [89, 88, 97, 94],
      [84, 77, 92, 79],
      [81, 87, 87, 85],
      [87, 92, 89, 84],
      [79, 81, 80, 88],
    ])
    expect([(seed?.value ?? 0) * 4, (task?.value ?? 0) * 3, (residual?.value ?? 0) * 12].map(Math.round)).toEqual([
      264, 70, 226,
    ])
  })

  it('finds the variances that made the table (STA-13)', () => {
    const random = draws('components')
    const totals = { seed: 0, task: 0, residual: 0 }
    const n = scaled(300)
    for (let i = 0; i < n; i++) {
      const tasks = Array.from({ length: 12 }, () => 2 * random.normal())
      const table = Array.from({ length: 6 }, () => {
        const seed = random.normal()
        return tasks.map((task) => 5 + seed + task + 0.5 * random.normal())
      })
      const { variance } = crossedAnova(table)
      totals.seed += (variance.seed ?? 0) / n
      totals.task += (variance.task ?? 0) / n
      totals.residual += (variance.residual ?? 0) / n
    }
    expect(Math.abs(totals.seed - 1)).toBeLessThan(0.1)
    expect(Math.abs(totals.task - 4)).toBeLessThan(0.3)
    expect(Math.abs(totals.residual - 0.25)).toBeLessThan(0.02)
  })

  it('splits the total sum of squares, at any level of the data (STA-13)', () => {
    const cell = fc.integer({ min: -100, max: 100 })
    const table = fc
      .integer({ min: 2, max: 5 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 2, maxLength: 5 }),
      )
    fc.assert(
      fc.property(table, fc.constantFrom(0, 1e6), (values, level) => {
        const { seed, task, residual, mean } = crossedAnova(values.map((row) => row.map((x) => x + level)))
        const parts = [seed, task, residual].reduce((sum, part) => sum + (part?.value ?? 0) * (part?.df ?? 0), 0)
        const total = values.flat().reduce((sum, x) => sum + (x + level - mean) ** 2, 0)
        expect(Math.abs(parts - total)).toBeLessThan(1e-6 * Math.max(1, total))
      }),
    )
  })

  it('says null where a table cannot tell (STA-13)', () => {
    expect(crossedAnova([[1], [3]]).variance).toEqual({ seed: 2, task: null, residual: null })
    expect(crossedAnova([[1, 3]]).variance).toEqual({ seed: null, task: null, residual: null })
    expect(
      crossedAnova(
        [
          [1, 2],
          [3, 5],
        ],
        1,
      ).residual,
    ).toBeNull()
    expect(() => crossedAnova([])).toThrow(RangeError)
    expect(() => crossedAnova([[1, 2], [1]])).toThrow(RangeError)
  })
})

describe('the error of a mean', () => {
  // Mean squares by hand, so that every step can be checked by hand.
  const anova = (seed: number, task: number, residual: number): CrossedAnova => ({
    mean: 0,
    means_S: [],
    seed: { value: seed, df: 2 },
    task: { value: task, df: 3 },
    residual: { value: residual, df: 6 },
    variance: { seed: null, task: null, residual: null },
  })
  const none_S_T = Array.from({ length: 3 }, () => [0, 0, 0, 0])
  const input = {
    nSeeds: 3,
    nTasks: 4,
    identical: false,
    resolution: null,
    rounding: 0,
    slack_S_T: none_S_T,
    confidence: 0.9,
  }

  it('with tasks as they are rests on the spread of seeds, pooled with that of cells where it is no larger, never below one flip of one score (STA-13, USE-112)', () => {
    expect(overSeeds({ ...input, anova: anova(6, 9, 1) })).toEqual({
      standardError: expect.closeTo(Math.sqrt(6 / 12), 14),
      df: 2,
      grain: 0,
      over: 'seeds',
      rests: 'spread',
    })
    expect(overSeeds({ ...input, anova: anova(0.001, 9, 1) })).toMatchObject({
      standardError: expect.closeTo(Math.sqrt((2 * 0.001 + 6 * 1) / 8 / 12), 14),
      df: 8,
      rests: 'pooled',
    })
    expect(overSeeds({ ...input, anova: anova(0.001, 9, 0.001), resolution: 3 })).toMatchObject({
      standardError: expect.closeTo(Math.sqrt(9 / 12 / 12), 14),
      grain: 3 / 24,
      rests: 'resolution',
    })
  })

  it('takes the spread at its largest where scores were lost (STA-14)', () => {
    const slack_S_T = [
      [1, 1, 0, 0],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]
    // Half a score of the first seed's mean: its square, once for each of the four tasks, over two degrees of freedom.
    const spread = (Math.sqrt(6) + Math.sqrt((4 * 0.25) / 2)) ** 2
    for (const identical of [false, true]) {
      const error = overSeeds({ ...input, anova: anova(6, 9, 0.01), slack_S_T, identical })
      expect(error).toMatchObject({ over: 'seeds', standardError: expect.closeTo(Math.sqrt(spread / 12), 14) })
    }
  })

  it('on tasks like these adds both, with the degrees of freedom of Satterthwaite (STA-13)', () => {
    const seedError = { standardError: 0.5, df: 2, grain: 0.1, over: 'seeds', rests: 'spread' } as const // MS 3
    expect(overBoth({ ...input, anova: anova(3, 5, 1) }, seedError)).toEqual({
      standardError: expect.closeTo(Math.sqrt(7 / 12), 14),
      df: expect.closeTo(49 / (9 / 2 + 25 / 3 + 1 / 6), 12),
      grain: 0,
      over: 'both',
    })
    const pooledError = { standardError: 0.5, df: 8, grain: 0, over: 'seeds', rests: 'pooled' } as const
    expect(overBoth({ ...input, anova: anova(3, 5, 5) }, pooledError)).toEqual({
      standardError: expect.closeTo(Math.sqrt(5 / 12), 14),
      df: 3,
      grain: 0,
      over: 'both',
    })
    expect(overBoth({ ...input, anova: anova(3, 2, 4) }, seedError)).toMatchObject({ standardError: 0.5, df: 2 })
  })

  it('over seeds takes their spread for noise of cells up to what cells give in 55 of 100 experiments (STA-13, USE-112)', () => {
    const at = (residual: number) => {
      const table = { ...input, anova: anova(3, 3.5, residual) }
      const seedError = overSeeds(table)
      return { seedError, error: overBoth(table, seedError) }
    }
    const line = 3 / fQuantile(0.55, 2, 6)
    const [below, above] = [at(line * 0.99), at(line * 1.01)]
    expect(below.seedError).toMatchObject({ rests: 'spread', df: 2 })
    expect(below.error).toMatchObject({ standardError: expect.closeTo(0.5, 14), df: 2 })
    expect(above.seedError).toMatchObject({ rests: 'pooled', df: 8 })
    expect(above.error).toMatchObject({ standardError: expect.closeTo(Math.sqrt(3.5 / 12), 14), df: 3 })
  })

  it('of one seed is over tasks, never below one flip of one score, and with room for lost scores (USE-1)', () => {
    const one = { ...input, nSeeds: 1, slack_S_T: [[0, 0, 0, 0]] }
    const table = { ...anova(0, 9, 0), seed: null, residual: null }
    expect(overSeeds({ ...one, anova: table })).toBeNull()
    expect(overBoth({ ...one, anova: table }, null)).toMatchObject({ standardError: 1.5, df: 3, over: 'tasks' })
    expect(overBoth({ ...one, anova: table, resolution: 8 }, null)).toMatchObject({ standardError: 2, grain: 1 })
    const open = overBoth({ ...one, anova: table, slack_S_T: [[3, 0, 0, 0]] }, null)
    expect(open?.standardError).toBeCloseTo((3 + Math.sqrt(9 / 3)) / 2, 12)
    expect(overBoth({ ...one, anova: { ...table, task: null } }, null)).toBeNull()
  })

  it('knows luck by the quantiles of F, which have a closed form at two degrees of freedom (STA-13)', () => {
    for (const [p, df] of [
      [0.05, 6],
      [0.5, 3],
      [0.9, 14],
    ] as const) {
      expect(fQuantile(p, 2, df)).toBeCloseTo((df / 2) * ((1 - p) ** (-2 / df) - 1), 10)
      const share = p ** (2 / df)
      expect(fQuantile(p, df, 2)).toBeCloseTo(((2 / df) * share) / (1 - share), 9)
    }
  })

  it('has no meaning for a table without cells or with rows of unequal length (STA-13)', () => {
    for (const table of [[], [[]], [[1, 2], [3]]]) expect(() => crossedAnova(table)).toThrow(RangeError)
  })
})
