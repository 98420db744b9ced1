import { describe, expect, it } from 'vitest'
import { nextSteps } from './next-steps.ts'

describe('what to do next', () => {
  it('is to raise the budget where it stopped every run, and to look for a fault where runs failed (USE-321)', () => {
    const conclusion = { verdict: 'failed' as const, text: 'Failed.' }
    const options = { evidence: undefined, commandWith: () => 'evsys run a.yaml', dry: false }
    const stepsAfter = (status: 'stopped' | 'failed') =>
      nextSteps({ conclusion, arms: [{ name: 'a', status, params: {}, seeds: [1], score: null }] }, options)
    expect(stepsAfter('stopped')).toEqual(['raise the budget, or plan fewer runs or steps'])
    expect(stepsAfter('failed')).toEqual(['evsys run a.yaml --dry   # a few steps, to see what fails'])
  })
})
