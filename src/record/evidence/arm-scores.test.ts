import { describe, expect, it } from 'vitest'
import type { EvalRow, RunRow } from '../../store/index.ts'
import { armScore, armScores, rangeOf, selectedEval } from './arm-scores.ts'

const selected: EvalRow = {
  benchmark: 'val',
  split: 'val',
  metrics: {},
  nTasks: 10,
  nInfraFailed: 0,
  scorerHash: 'h',
}
const runAt = (seed: number) => ({ seed }) as RunRow // the part that is looked at
const seedScore = (values: readonly number[], metric: string) =>
  armScore(
    values.map((value, seed) => ({ run: runAt(seed), selected: { ...selected, metrics: { [metric]: value } } })),
    metric,
    undefined,
  )

describe('the score of an arm', () => {
  it.each(['pass@1', 'pass^3', 'majority@5', 'pass_rate', 'pass@1[group=a]'])(
    'has an interval of shares where %s is one (LAB-25)',
    (metric) => {
      const { ci } = seedScore([0.9, 1, 1], metric)
      expect(ci?.[1]).toBe(1)
      expect(seedScore([0, 0, 0.1], metric).ci?.[0]).toBe(0)
    },
  )

  it('may reach anywhere where the metric may (LAB-25)', () => {
    expect(seedScore([0.9, 1, 1], 'cost_per_task').ci?.[1]).toBeGreaterThan(1)
    expect(seedScore([0.1, -0.2, 0], 'pass_through').ci?.[0]).toBeLessThan(-0.2)
  })
})

describe('scores of tasks', () => {
  const f1 = (values: Record<string, number | [number, number]>, more: Partial<EvalRow> = {}): EvalRow => ({
    ...selected,
    metrics: { macro_f1: 0.6 },
    byTask: { macro_f1: values },
    ...more,
  })
  const scored = (...evals: EvalRow[]) => evals.map((each, seed) => ({ run: runAt(seed), selected: each }))

  it('are what the scorer found for any metric, open where it left them open (USE-1)', () => {
    const { tasks, cells_S_T } = armScores(
      scored(f1({ a: 0.2, b: [0.8, 1] }), f1({ b: 0.9, a: 0.3 })),
      'macro_f1',
      undefined,
    )
    expect(tasks).toEqual(['a', 'b'])
    expect(cells_S_T).toEqual([
      [0.2, { lower: 0.8, upper: 1 }],
      [0.3, 0.9],
    ])
    const older = armScores(
      scored(f1({ a: 0.2, b: 1 }), { ...selected, metrics: { macro_f1: 0.5 } }),
      'macro_f1',
      undefined,
    )
    expect(older).toEqual({ seeds: [0, 1], cells_S_T: [[0.6], [0.5]] })
  })

  it('give one seed an interval, within what the metric says it can be (USE-1, USE-2)', () => {
    const values = Object.fromEntries(Array.from({ length: 8 }, (_, t) => [`t${t}`, t === 0 ? -1.5 : 0.9]))
    const one = armScore(scored(f1(values)), 'macro_f1', undefined)
    expect(one).toMatchObject({ mean: 0.6, n: 1, over: 'tasks' })
    expect(one.ci?.[1]).toBeGreaterThan(1)
    const bounded = armScore(scored(f1(values, { ranges: { macro_f1: [0, 1] } })), 'macro_f1', undefined)
    expect(bounded.ci?.[1]).toBeLessThan(1)
    expect(bounded.ci?.[0]).toBeGreaterThan(0)
    expect(rangeOf([f1({}, { ranges: { macro_f1: [0, null] } })], 'macro_f1[topic=a]')).toEqual([0, null])
  })
})

describe('the evaluation that counts', () => {
  const at = (step?: number, more: Partial<EvalRow> = {}): EvalRow => ({ ...selected, step, ...more })
  const chosen = (evals: readonly EvalRow[], bestStep?: number) => selectedEval({ bestStep } as RunRow, evals, 'val') // the part that is looked at

  it('is the one after training, whatever the step that was best (LAB-33)', () => {
    expect(chosen([at(10), at(), at(20)], 10)).toEqual(at())
  })

  it('is else the one at the best step, and else the last (LAB-33)', () => {
    expect(chosen([at(10), at(20), at(30)], 20)).toEqual(at(20))
    expect(chosen([at(10), at(30), at(20)])).toEqual(at(30))
    expect(chosen([at(0), at(30), at(20)], 25)).toEqual(at(30))
    expect(chosen([])).toBeUndefined()
  })

  it('is none of another benchmark, and none that failed (LAB-33)', () => {
    const error = { code: 'VERIFIER_FAILED' as const, message: 'gone' }
    expect(chosen([at(undefined, { benchmark: 'test' }), at(10)], 10)).toEqual(at(10))
    expect(chosen([at(undefined, { error }), at(10)])).toEqual(at(10))
    expect(chosen([at(undefined, { error })])).toBeUndefined()
  })
})
