import { describe, expect, it } from 'vitest'
import { nextFixedStep } from './checkpoint-evals.ts'
import { createStopRequest } from './run-progress.ts'

const fixed = (step: number) => step % 5 === 4
const stop = () => createStopRequest((step) => nextFixedStep(step, 20, fixed))

describe('a request to stop', () => {
  it('that follows from an evaluation is granted after the next fixed step, whenever it comes (LAB-55)', () => {
    const asked = stop()
    asked.from(4)('no better')
    expect([5, 9, 10].map(asked.isDue)).toEqual([false, false, true])
    expect(asked.reason).toBe('no better')
  })

  it('of a step is granted at once, and the earliest one counts (LAB-55)', () => {
    const asked = stop()
    asked.from(4)('no better')
    asked.now(6)('enough')
    asked.now(8)('late')
    expect([6, 7].map(asked.isDue)).toEqual([false, true])
    expect(asked.reason).toBe('enough')
    asked.reset()
    expect([asked.isDue(19), asked.reason]).toEqual([false, undefined])
  })

  it('near the end is granted by the end itself (LAB-55)', () => {
    expect(nextFixedStep(17, 19, fixed)).toBe(18)
    const asked = stop()
    asked.from(19)('too late')
    expect(asked.isDue(19)).toBe(false)
  })
})
