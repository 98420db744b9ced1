import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Datum, TopKLogprobs } from '../../contracts/index.ts'
import { discounted } from './opd.ts'
import { reverseKlLoss, softSequence, softTarget } from './soft-targets.ts'

/** Scores of some tokens with K candidates each; a few places have fewer. */
const scored = fc
  .record({ length: fc.integer({ min: 2, max: 12 }), k: fc.integer({ min: 1, max: 6 }) })
  .chain(({ length, k }) =>
    fc.record({
      tokens: fc.array(fc.nat(99), { minLength: length, maxLength: length }),
      mask: fc.array(fc.boolean(), { minLength: length, maxLength: length }),
      scores: fc
        .array(
          fc.record({
            have: fc.integer({ min: 1, max: k }),
            drops: fc.array(fc.double({ min: 0, max: 9, noNaN: true }), { minLength: k, maxLength: k }),
          }),
          { minLength: length, maxLength: length },
        )
        .map((rows): TopKLogprobs => topk(k, rows)),
    }),
  )

function topk(k: number, rows: readonly { have: number; drops: readonly number[] }[]): TopKLogprobs {
  const tokens = new Int32Array(rows.length * k).fill(-1)
  const logprobs = new Float64Array(rows.length * k).fill(Number.NaN)
  for (const [at, { have, drops }] of rows.entries()) {
    let logprob = -0.1
    for (let i = 0; i < have; i++) {
      tokens[at * k + i] = i
      logprobs[at * k + i] = logprob
      logprob -= drops[i] ?? 0
    }
  }
  return { k, tokens, logprobs }
}

describe('soft targets', () => {
  it('weigh one in every place that is trained on, and nothing anywhere else (RL-301)', () => {
    fc.assert(
      fc.property(scored, ({ tokens, mask, scores }) => {
        const { k } = scores
        const made = softSequence(Int32Array.from(tokens), k, (at) => (mask[at] ? softTarget(scores, at) : undefined))
        const places = mask.slice(1)
        expect(made === undefined).toBe(!places.includes(true))
        if (made === undefined) return
        const { weights, target_tokens } = made.datum.lossInputs
        expect(weights?.shape).toEqual([tokens.length - 1, k])
        expect([...made.datum.tokens]).toEqual(tokens.slice(0, -1))
        expect(made.supervised).toBe(places.filter(Boolean).length)
        for (const [t, isTrained] of places.entries()) {
          const row = [...(weights?.data ?? [])].slice(t * k, (t + 1) * k)
          expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(isTrained ? 1 : 0, 12)
          expect(row.every((weight) => weight >= 0)).toBe(true)
        }
        expect(target_tokens?.data.every((token) => token >= 0)).toBe(true)
        expect(made.entropy).toBeGreaterThanOrEqual(0)
        expect(made.entropy).toBeLessThanOrEqual(made.supervised * Math.log(k) + 1e-9)
      }),
    )
  })

  it('keep the ratios of the teacher’s probabilities (RL-301)', () => {
    const scores = {
      k: 3,
      tokens: Int32Array.of(7, 8, -1),
      logprobs: Float64Array.of(Math.log(0.3), Math.log(0.1), Number.NaN),
    }
    const target = softTarget(scores, 0)
    expect([...(target?.tokens ?? [])]).toEqual([7, 8])
    expect(target?.probabilities[0]).toBeCloseTo(0.75, 12)
    expect(softTarget({ ...scores, tokens: Int32Array.of(-1, -1, -1) }, 0)).toBeUndefined()
  })
})

describe('discounted values', () => {
  it('are the values themselves without a discount, and sums of what follows with one (RL-302)', () => {
    const values = Float64Array.of(1, 9, 2, 4)
    const mask = Uint8Array.of(1, 0, 1, 1)
    expect([...discounted(values, mask, 0)]).toEqual([1, 9, 2, 4])
    expect([...discounted(values, mask, 1)]).toEqual([7, 9, 6, 4])
    expect([...discounted(values, mask, 0.5)]).toEqual([3, 9, 4, 4])
  })
})

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
