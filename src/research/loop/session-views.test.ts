import { describe, expect, it } from 'vitest'
import { extraMetrics } from './session-views.ts'

const run = { run: 'a1-s0', seed: 0, split: 'val', purpose: 'race', status: 'scored' } as const

describe('what is known of an attempt beside its score', () => {
  it('means of other numbers of the scorer, and the most memory of any run (RES-626)', () => {
    const scores = [
      { seed: 0, value: 1, secondary: { worst: 0.2, ms: 10 } },
      { seed: 1, value: 1, secondary: { worst: 0.4 } },
    ]
    const runs = [
      { ...run, peakMemoryBytes: 512e6, claimed: { gpu_memory_gb: 3 } },
      { ...run, peakMemoryBytes: 1.2345e9, claimed: { loss: 1 } },
    ]
    const extra = extraMetrics({ scores, runs })
    expect(extra).toEqual({ worst: expect.closeTo(0.3, 9), ms: 10, memory_gb: 1.23, gpu_memory_gb: 3 })
    expect(extraMetrics({ scores: [], runs: [run] })).toEqual({})
  })
})
