import { describe, expect, it } from 'vitest'
import type { ExperimentResult } from '../../contracts/index.ts'
import { evaluatePlugins } from '../../evaluate/index.ts'
import { plainColors } from './colors.ts'
import { armTable } from './experiment-text.ts'

const style = { colors: plainColors, width: 120 }
const arm = (name: string, score: ExperimentResult['arms'][number]['score']) => ({
  name,
  status: 'completed' as const,
  params: {},
  seeds: [1, 2],
  score,
})
const table = (arms: ExperimentResult['arms'], metric: string | undefined) =>
  armTable(
    {
      arms,
      best_arm: metric === undefined ? null : (arms[0]?.name ?? null),
      objective: metric === undefined ? null : { metric, direction: 'max' },
    } as ExperimentResult, // the part that is looked at
    style,
  )

describe('the table of arms', () => {
  it('counts seeds where there is no benchmark, and has no column of scores (USE-5)', () => {
    const text = table([arm('a', null)], undefined)
    expect(text).not.toMatch(/0 of 2|INTERVAL|SCORE/)
    expect(text).toMatch(/SEEDS\n.*completed\s+2/)
  })

  it('marks every arm that shares the best score, and what an interval leaves out (USE-1, USE-3)', () => {
    const even = { mean: 0.5, ci: [0.4, 0.6] as [number, number], n: 2 }
    const text = table([arm('a', { ...even, over: 'both' }), arm('b', { ...even, over: 'seeds' })], 'val.pass@1')
    expect(text).toMatch(/a \*.*0.4 to 0.6 {2,}/)
    expect(text).toMatch(/b \*.*0.4 to 0.6 \(seeds alone\)/)
  })
})

describe('directions that are known before plugins are loaded', () => {
  it('are those of the built-in metrics: less is better of what answers take alone (USE-6)', () => {
    const least = evaluatePlugins.flatMap((plugin) =>
      plugin.type === 'metric' && plugin.direction === 'min' ? [plugin.kind] : [],
    )
    expect(least.sort()).toEqual(['cost_per_task', 'latency_p{q}', 'time_per_task', 'tokens_per_task'])
  })
})
