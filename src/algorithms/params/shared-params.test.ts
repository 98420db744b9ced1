import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type LrPlan,
  LrSchedule,
  learningRateAt,
  numSteps,
  SharedParams,
  saveMarks,
  stepsPerEpoch,
} from './shared-params.ts'

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

describe('saveMarks', () => {
  it.each([
    [100, { save_every: 30 }, [30, 60, 90]],
    [100, { save_every: 100 }, [100]],
    [100, { save_every: 101 }, []],
    [100, {}, [100]],
    [10, { save_at_fractions: [1, 0.25, 0.5] }, [3, 5, 10]],
    [7, { save_at_fractions: [0.01, 0.02, 0.5] }, [1, 4]],
    [97, { save_at_fractions: [0.33, 0.66, 1] }, [32, 64, 97]],
  ])('of %d steps with %j are %j (PLG-11)', (steps, params, marks) => {
    expect(saveMarks(steps, SharedParams.parse(params))).toEqual(marks)
  })

  it('lie in the run, in order, once each, at the nearest step (PLG-11)', () => {
    const fractions = fc.array(fc.double({ min: 1e-6, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fractions, (steps, save_at_fractions) => {
        const marks = saveMarks(steps, { save_every: 0, save_at_fractions })
        expect(marks).toEqual([...new Set(marks)].sort((a, b) => a - b))
        expect(marks.every((mark) => Number.isInteger(mark) && mark >= 1 && mark <= steps)).toBe(true)
        for (const fraction of save_at_fractions) {
          const distance = Math.min(...marks.map((mark) => Math.abs(mark - fraction * steps)))
          expect(distance).toBeLessThanOrEqual(Math.max(0.5, 1 - fraction * steps))
        }
      }),
    )
  })
})

describe('numSteps', () => {
  it.each([
    [10, {}, 2],
    [3, {}, 1],
    [12, { batch_size: 4, num_epochs: 3 }, 9],
    [12, { batch_size: 4, num_epochs: 3, max_steps: 5 }, 5],
  ])('of %d rows with %j is %d (PLG-11)', (rows, params, steps) => {
    expect(numSteps(rows, SharedParams.parse(params))).toBe(steps)
  })

  it('is an error without rows, whatever max_steps says (PLG-11)', () => {
    expect(() => numSteps(0, SharedParams.parse({ max_steps: 5 }))).toThrow('there is no row to train on')
  })

  it('counts whole batches, at least one (PLG-11)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1000 }), (rows, size) => {
        const steps = stepsPerEpoch(rows, size)
        expect(steps).toBe(rows < size ? 1 : Math.floor(rows / size))
      }),
    )
  })
})

describe('shared params', () => {
  it('have the defaults that every recipe starts from (PLG-11)', () => {
    expect(SharedParams.parse({})).toEqual({
      learning_rate: 1e-4,
      num_epochs: 1,
      batch_size: 4,
      gradient_accumulation_steps: 1,
      lora_rank: 8,
      save_every: 0,
      save_at_fractions: [1],
      save_sampler: true,
      callbacks: [],
      adam_beta1: 0.9,
      adam_beta2: 0.95,
      adam_eps: 1e-8,
      weight_decay: 0,
      grad_clip_norm: 0,
      lr_schedule: 'constant',
      lr_warmup_steps: 0,
      lr_min_ratio: 0,
      row_order: 'shuffled',
    })
  })

  it.each([
    { learning_rate: -1 },
    { batch_size: 0 },
    { save_at_fractions: [0] },
    { save_at_fractions: [] },
    { lr_schedule: 'cosin' },
    { adam_beta1: 1 },
    { max_steps: 0 },
    { lr_min_ratio: 2 },
  ])('refuse %j (PLG-11)', (params) => {
    expect(SharedParams.safeParse(params).success).toBe(false)
  })
})
