import { describe, expect, it } from 'vitest'
import type { EvalRow, RunRow } from '../../store/index.ts'
import { seedScore, selectedEval } from './arm-scores.ts'

const selected: EvalRow = {
  benchmark: 'val',
  split: 'val',
  metrics: {},
  nTasks: 10,
  nInfraFailed: 0,
  scorerHash: 'h',
}
const seeds = (values: readonly number[]) => values.map((value) => ({ value, selected }))

describe('the score of an arm', () => {
  it.each(['pass@1', 'pass^3', 'majority@5', 'pass_rate', 'pass@1[group=a]'])(
    'has an interval of shares where %s is one (LAB-25)',
    (metric) => {
      const { ci } = seedScore(seeds([0.9, 1, 1]), metric)
      expect(ci?.[1]).toBe(1)
      expect(seedScore(seeds([0, 0, 0.1]), metric).ci?.[0]).toBe(0)
    },
  )

  it('may reach anywhere where the metric may (LAB-25)', () => {
    expect(seedScore(seeds([0.9, 1, 1]), 'cost_per_task').ci?.[1]).toBeGreaterThan(1)
    expect(seedScore(seeds([0.1, -0.2, 0]), 'pass_through').ci?.[0]).toBeLessThan(-0.2)
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
