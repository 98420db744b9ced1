import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Datum } from '../../contracts/index.ts'
import { reverseKlLoss } from './reverse-kl-loss.ts'

const logit = fc.double({ min: -3, max: 3, noNaN: true })
/** Two distributions over one vocabulary. */
const pair = fc
  .integer({ min: 2, max: 6 })
  .chain((v) =>
    fc.record({
      p: fc.array(logit, { minLength: v, maxLength: v }),
      q: fc.array(logit, { minLength: v, maxLength: v }),
    }),
  )
  .map(({ p, q }) => ({ p: logSoftmax(p), q: logSoftmax(q) }))

function logSoftmax(logits: readonly number[]): number[] {
  const sum = Math.log(logits.reduce((total, each) => total + Math.exp(each), 0))
  return logits.map((each) => each - sum)
}

function lossOf(p: readonly number[], q: readonly number[], coef = 1) {
  const datum: Datum = { tokens: Int32Array.of(0), lossInputs: {} }
  const logprobs = { data: Float64Array.from(p), shape: [1, p.length] }
  return reverseKlLoss([datum], [logprobs], [Float64Array.from(q)], coef)
}

const whole = (p: readonly number[], q: readonly number[]) =>
  p.reduce((sum, each, i) => sum + Math.exp(each) * (each - (q[i] ?? 0)), 0)

describe('reverse KL', () => {
  it('is the whole divergence over the whole vocabulary, and a lower bound over a part of it (RL-303)', () => {
    fc.assert(
      fc.property(pair, ({ p, q }) => {
        expect(lossOf(p, q).loss).toBeCloseTo(whole(p, q), 4)
        expect(lossOf(p, q, 2).loss).toBeCloseTo(2 * whole(p, q), 4)
        const part = lossOf(p.slice(0, -1), q.slice(0, -1)).loss
        expect(part).toBeGreaterThanOrEqual(-1e-9)
        expect(lossOf(p.slice(0, 1), q.slice(0, 1)).loss).toBeLessThanOrEqual(whole(p, q) + 1e-9)
      }),
    )
  })

  it('has the gradient that finite differences give (RL-303)', () => {
    fc.assert(
      fc.property(pair, ({ p, q }) => {
        const [told, taught] = [p.slice(0, -1), q.slice(0, -1)]
        const [gradient] = lossOf(told, taught, 1.5).gradients
        for (const i of told.keys()) {
          const moved = (by: number) =>
            lossOf(
              told.map((each, j) => (j === i ? each + by : each)),
              taught,
              1.5,
            ).loss
          expect(gradient?.data[i]).toBeCloseTo((moved(1e-6) - moved(-1e-6)) / 2e-6, 4)
        }
      }),
    )
  })

  it('leaves out places without a teacher, and stays finite where it rules a token out (RL-303)', () => {
    const none = lossOf([-1, -2], [Number.NaN, Number.NaN])
    expect([none.loss, ...(none.gradients[0]?.data ?? [])]).toEqual([0, 0, 0])
    const sure = lossOf([-0.01, -9], [-40, -50])
    expect(Number.isFinite(sure.loss)).toBe(true)
    expect(sure.gradients[0]?.data.every(Number.isFinite)).toBe(true)
  })
})
