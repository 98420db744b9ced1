import { describe, expect, it } from 'vitest'
import type { EvalRow } from '../../store/index.ts'
import { seedScore } from './arm-scores.ts'

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
