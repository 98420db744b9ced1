import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ArmScores, type Cell, fillMissing, pairScores } from './pair-scores.ts'

const arm = (cells_S_T: Cell[][], seeds: (number | string)[] = [...cells_S_T.keys()], tasks?: string[]): ArmScores => ({
  seeds,
  tasks: tasks ?? (cells_S_T[0] ?? []).map((_, t) => `t${t}`),
  cells_S_T,
})

describe('pairScores', () => {
  it('pairs by name, whatever the order, and names what has no partner (STA-13)', () => {
    const treatment = arm(
      [
        [1, 0, 1],
        [0, 0, 1],
      ],
      ['s2', 's1'],
      ['a', 'b', 'c'],
    )
    const baseline = arm(
      [
        [0, 0],
        [1, 0],
        [0, 1],
      ],
      ['s1', 's2', 's3'],
      ['c', 'a'],
    )
    expect(pairScores(treatment, baseline)).toEqual({
      seeds: ['s2', 's1'],
      tasks: ['a', 'c'],
      differences_S_T: [
        [1, 0],
        [0, 1],
      ],
      slack_S_T: [
        [0, 0],
        [0, 0],
      ],
      unpairedSeeds: ['s3'],
      unpairedTasks: ['b'],
      bounded: 0,
      missing: 0,
      step: 1,
      rounding: 1e-12,
    })
  })

  it('keeps a lost score as the range of its difference (STA-14)', () => {
    const pairs = pairScores(arm([[{ lower: 0, upper: 1 }, 1]]), arm([[1, { lower: 1 / 3, upper: 2 / 3 }]]))
    expect(pairs.differences_S_T).toEqual([[-0.5, 0.5]])
    expect(pairs.slack_S_T[0]?.[0]).toBe(0.5)
    expect(pairs.slack_S_T[0]?.[1]).toBeCloseTo(1 / 6, 12)
    expect(pairs.bounded).toBe(2)
  })

  it('keeps a seed of which every score was lost (STA-14)', () => {
    const lost = { lower: 0, upper: 1 }
    expect(
      pairScores(
        arm([
          [1, 0],
          [lost, lost],
        ]),
        arm([
          [0, 0],
          [1, 1],
        ]),
      ).seeds,
    ).toEqual([0, 1])
  })

  it('leaves out seeds and tasks that never ran, by name (STA-14)', () => {
    const pairs = pairScores(
      arm([
        [1, null],
        [null, null],
        [0, null],
      ]),
      arm([
        [0, 0],
        [0, 0],
        [0, 0],
      ]),
    )
    expect(pairs).toMatchObject({ seeds: [0, 2], tasks: ['t0'], unpairedSeeds: [1], unpairedTasks: ['t1'], missing: 0 })
  })

  it('of islands that share nothing keeps the largest (STA-14)', () => {
    const island = [
      [1, 1, null],
      [null, null, 1],
      [0, 1, null],
    ]
    const pairs = pairScores(arm(island), arm(island.map((row) => row.map(() => 0))))
    expect(pairs).toMatchObject({ seeds: [0, 2], unpairedSeeds: [1], unpairedTasks: ['t2'] })
  })

  it('finds the smallest step, but not in the last bits (STA-15)', () => {
    const thirds = arm([[1 / 3, 1 - 1 / 3, 2 / 3]])
    expect(pairScores(thirds, arm([[0, 1, 1]])).step).toBeCloseTo(1 / 3, 12)
    expect(pairScores(arm([[1, 1]]), arm([[1, 1]])).step).toBeNull()
  })

  it('compares seeds alone when neither arm knows tasks (STA-13)', () => {
    const seedsOnly = (scores: number[]): ArmScores => ({
      seeds: [...scores.keys()],
      cells_S_T: scores.map((x) => [x]),
    })
    expect(pairScores(seedsOnly([3, 4]), seedsOnly([1, 1])).differences_S_T).toEqual([[2], [3]])
    expect(() => pairScores(seedsOnly([1]), arm([[1]]))).toThrow(/both arms name their tasks/)
  })

  it.each([
    ['a seed named twice', arm([[1], [0]], [7, 7])],
    ['a task named twice', arm([[1, 0]], [0], ['a', 'a'])],
    ['a missing row', { ...arm([[1]]), seeds: [0, 1] }],
    ['a ragged row', { ...arm([[1, 0]]), tasks: ['t0'] }],
    ['NaN', arm([[Number.NaN]])],
    ['an infinite score', arm([[Number.POSITIVE_INFINITY]])],
    ['a score whose square overflows', arm([[1e200]])],
    ['bounds in the wrong order', arm([[{ lower: 1, upper: 0 }]])],
    ['bounds that are no numbers', arm([[{ lower: Number.NaN, upper: 1 }]])],
    ['nothing shared', arm([[1]], [99])],
    ['nothing at all', { seeds: [], tasks: [], cells_S_T: [] }],
    ['nothing that ran', arm([[null]])],
  ])('refuses %s (STA-13)', (_name, treatment) => {
    expect(() => pairScores(treatment, arm([[1]]))).toThrow(RangeError)
  })
})

describe('fillMissing', () => {
  it('restores what is additive exactly, wherever the holes are (STA-14)', () => {
    const effects = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(effects, effects, fc.array(fc.nat(), { maxLength: 12 }), (rows, columns, holes) => {
        const full = rows.map((row) => columns.map((column) => row + column))
        // Row 0 and column 0 stay whole, so that all is linked.
        const holed = full.map((row, s) =>
          row.map((value, t) =>
            s > 0 && t > 0 && holes.some((h) => h % (rows.length * columns.length) === s * columns.length + t)
              ? null
              : value,
          ),
        )
        for (const [s, row] of fillMissing(holed).entries()) {
          for (const [t, value] of row.entries()) expect(value).toBeCloseTo(full[s]?.[t] ?? Number.NaN, 9)
        }
      }),
    )
  })

  it('gives Yates’ value for one missing plot (STA-14)', () => {
    // Yates (1933): x = (r R + c C - G) / ((r - 1)(c - 1)) with totals of the rest: rows 3, columns 3, R = 7 + 5, C = 4 + 6, G = 45.
    const filled = fillMissing([
      [null, 7, 5],
      [4, 8, 3],
      [6, 9, 3],
    ])
    expect(filled[0]?.[0]).toBeCloseTo((3 * 12 + 3 * 10 - 45) / 4, 12)
  })

  it('leaves a complete table as it is (STA-14)', () => {
    expect(
      fillMissing([
        [0.1, 0.2],
        [0.3, 0.7],
      ]),
    ).toEqual([
      [0.1, 0.2],
      [0.3, 0.7],
    ])
  })

  it('refuses tables that fall apart (STA-14)', () => {
    expect(() =>
      fillMissing([
        [1, null],
        [null, 1],
      ]),
    ).toThrow(/not linked/)
    expect(() =>
      fillMissing([
        [1, null],
        [1, null],
      ]),
    ).toThrow(/empty/)
  })
})
