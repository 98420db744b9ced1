import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LrPlan, LrSchedule, learningRateAt } from './lr-schedule.ts'

const plan = fc.record<LrPlan>({
  schedule: fc.constantFrom(...LrSchedule.options),
  learningRate: fc.double({ min: 1e-8, max: 1, noNaN: true }),
  numSteps: fc.integer({ min: 1, max: 300 }),
  warmupSteps: fc.integer({ min: 0, max: 400 }),
  minRatio: fc.double({ min: 0, max: 1, noNaN: true }),
})
const rates = (each: LrPlan) => Array.from({ length: each.numSteps }, (_, step) => learningRateAt(step, each))

describe('learningRateAt', () => {
  it('stays between nothing and the peak, above the floor once warm-up is over (PLG-11)', () => {
    fc.assert(
      fc.property(plan, (each) => {
        for (const [step, rate] of rates(each).entries()) {
          expect(rate).toBeGreaterThanOrEqual(0)
          expect(rate).toBeLessThanOrEqual(each.learningRate)
          if (step >= each.warmupSteps)
            expect(rate).toBeGreaterThanOrEqual(each.learningRate * each.minRatio * (1 - 1e-12))
        }
      }),
    )
  })

  it('rises in warm-up and never rises afterwards (PLG-11)', () => {
    fc.assert(
      fc.property(plan, (each) => {
        const all = rates(each)
        const hasWarmup = each.schedule !== 'constant' && each.schedule !== 'cosine'
        for (let step = 1; step < all.length; step++) {
          const change = (all[step] ?? 0) - (all[step - 1] ?? 0)
          if (hasWarmup && step < each.warmupSteps) expect(change).toBeGreaterThan(0)
          else if (!hasWarmup || step > each.warmupSteps) expect(change).toBeLessThanOrEqual(each.learningRate * 1e-15)
        }
      }),
    )
  })

  it.each([
    ['constant', [1, 1, 1, 1, 1, 1]],
    ['linear_warmup', [0.5, 1, 1, 1, 1, 1]],
    ['linear_decay', [0.5, 1, 1, 0.7, 0.4, 0.1]],
    ['cosine_with_warmup', [0.5, 1, 1, 0.775, 0.325, 0.1]],
    ['cosine', [1, 0.914057647468726, 0.689057647468726, 0.410942352531274, 0.185942352531274, 0.1]],
  ] as const)('%s takes these values (PLG-11)', (schedule, expected) => {
    const values = rates({ schedule, learningRate: 1, numSteps: 6, warmupSteps: 2, minRatio: 0.1 })
    for (const [step, value] of values.entries()) expect(value).toBeCloseTo(expected[step] ?? Number.NaN, 14)
  })

  it('begins and ends exactly (PLG-11)', () => {
    fc.assert(
      fc.property(plan, (each) => {
        const decays = each.schedule === 'linear_decay' || each.schedule.startsWith('cosine')
        const warmup = each.schedule === 'cosine' ? 0 : each.warmupSteps
        if (!decays || each.numSteps < warmup + 2) return
        expect(learningRateAt(warmup, each)).toBe(each.learningRate)
        expect(learningRateAt(each.numSteps - 1, each)).toBe(each.learningRate * each.minRatio)
      }),
    )
  })

  it('has its own cosine, right to the last bits (PLG-11)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), (step) => {
        const rate = learningRateAt(step, {
          schedule: 'cosine',
          learningRate: 1,
          numSteps: 1001,
          warmupSteps: 0,
          minRatio: 0,
        })
        expect(Math.abs(rate - 0.5 * (1 + Math.cos((Math.PI * step) / 1000)))).toBeLessThan(1e-15)
      }),
    )
  })
})
