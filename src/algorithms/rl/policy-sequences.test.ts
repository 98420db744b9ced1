import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Trajectory, Turn } from '../../contracts/index.ts'
import {
  klToReference,
  policySequences,
  scalesOf,
  sequenceOfDatum,
  trainedDatum,
  withKlPenalty,
} from './policy-sequences.ts'
import { Normalisation } from './rl-params.ts'

const token = fc.integer({ min: 0, max: 4 })
const anyTurn = fc.record({
  prompt: fc.array(token, { minLength: 1, maxLength: 6 }),
  completion: fc.array(token, { minLength: 1, maxLength: 4 }),
  goesOn: fc.boolean(),
  glue: fc.array(token, { maxLength: 2 }),
  isSound: fc.boolean(),
})
type Plan = typeof anyTurn extends fc.Arbitrary<infer T> ? T : never
const attempts = fc.array(fc.array(anyTurn, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 })

/** Turns that go on from the one before, or begin anew; some without sound log-probabilities. */
function trajectory(plans: readonly Plan[], sample = 0): Trajectory {
  const turns: Turn[] = []
  for (const { prompt, completion, goesOn, glue, isSound } of plans) {
    const last = turns.at(-1)?.tokens
    const whole = goesOn && last !== undefined ? [...last.prompt, ...last.completion, ...glue] : prompt
    const logprobs = completion.map((_, at) => (isSound ? -0.1 * (at + 1) : Number.NaN))
    const tokens = {
      prompt: Int32Array.from(whole),
      completion: Int32Array.from(completion),
      logprobs: Float64Array.from(logprobs),
      policyVersion: 0,
    }
    turns.push({ messages: [{ role: 'user', content: whole.join() }], text: 'x', stopReason: 'stop', tokens })
  }
  return { taskId: 'a', sample, turns, usage: { promptTokens: 0, completionTokens: 0, latencyS: 0 } }
}
const soundTokens = ({ turns }: Trajectory) =>
  turns.flatMap(({ tokens }) => (Number.isNaN(tokens?.logprobs[0]) ? [] : [...(tokens?.completion ?? [])]))

describe('sequences of a policy', () => {
  it('train every sound token that was drawn, each once, and no other (RL-104)', () => {
    fc.assert(
      fc.property(attempts, (all) => {
        for (const plans of all) {
          const whole = trajectory(plans)
          const data = policySequences(whole, 1).map((sequence) => trainedDatum(sequence) ?? expect.fail('no datum'))
          const trained = data.flatMap((datum) => {
            const { advantages, target_tokens, logprobs } = datum.lossInputs
            const mask = sequenceOfDatum(datum)?.mask.subarray(1)
            for (const [t, value] of (advantages?.data ?? []).entries()) {
              expect(value).toBe(mask?.[t] === 1 ? 1 : 0)
              if (mask?.[t] !== 1) expect(logprobs?.data[t]).toBe(0)
            }
            return [...(target_tokens?.data ?? [])].filter((_, t) => advantages?.data[t] === 1)
          })
          expect(trained.sort()).toEqual(soundTokens(whole).sort())
        }
      }),
    )
  })

  it('of one attempt have one advantage, however many they are (RL-104)', () => {
    fc.assert(
      fc.property(attempts, fc.double({ min: -2, max: 2, noNaN: true }), (all, advantage) => {
        fc.pre(advantage !== 0)
        for (const plans of all) {
          for (const { advantages, mask } of policySequences(trajectory(plans), advantage)) {
            expect(new Set(advantages.filter((_, t) => mask[t] === 1))).toEqual(new Set([advantage]))
          }
        }
      }),
    )
  })

  it('have the advantage of their turn where turns have their own (RL-104)', () => {
    const plan = (goesOn: boolean) => ({ prompt: [1], completion: [2, 3], goesOn, glue: [4], isSound: true })
    const sequences = policySequences(trajectory([plan(false), plan(true), plan(false)]), [0.5, -1, 2])
    expect(sequences.map(({ advantages }) => [...advantages])).toEqual([
      [0, 0.5, 0.5, 0, -1, -1],
      [0, 2, 2],
    ])
  })

  it('count as the normalisation says: tokens, sequences or attempts alike (RL-105)', () => {
    fc.assert(
      fc.property(attempts, fc.constantFrom(...Normalisation.options), (all, kind) => {
        const sequences = all.flatMap((plans, sample) => policySequences(trajectory(plans, sample), 1))
        fc.pre(sequences.length > 0)
        const scales = scalesOf(sequences, kind)
        const weights = sequences.map(({ trained }, s) => trained * (scales[s] ?? 0))
        expect(new Set(scales).size === 1 || kind === 'sequence' || kind === 'trajectory').toBe(true)
        if (kind === 'none') expect(scales[0]).toBe(1)
        else expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9)
        if (kind === 'sequence') for (const weight of weights) expect(weight).toBeCloseTo(1 / sequences.length, 9)
        if (kind === 'trajectory') {
          const shares = new Map<object, number>()
          for (const [s, { trajectory: of }] of sequences.entries())
            shares.set(of, (shares.get(of) ?? 0) + (weights[s] ?? 0))
          for (const share of shares.values()) expect(share).toBeCloseTo(1 / shares.size, 9)
        }
      }),
    )
  })

  it('lose advantage where they left the reference, by a sum of zero (RL-106)', () => {
    fc.assert(
      fc.property(attempts, fc.double({ min: 0.01, max: 1, noNaN: true }), (all, coef) => {
        const sequences = all.flatMap((plans, sample) => policySequences(trajectory(plans, sample), 0))
        fc.pre(sequences.length > 0)
        const references = sequences.map(({ mask }) =>
          Float64Array.from(mask, (each, t) => (each === 1 ? -0.05 * t : 0)),
        )
        const mean = klToReference(sequences, references)
        const moved = withKlPenalty(sequences, references, coef)
        let sum = 0
        for (const [s, { advantages, mask, logprobs }] of moved.entries()) {
          for (const [t, advantage] of advantages.entries()) {
            const difference = (logprobs[t] ?? 0) - (references[s]?.[t] ?? 0)
            const expected = mask[t] === 1 && t > 0 ? coef * (mean - difference) : 0
            expect(advantage).toBeCloseTo(expected, 9)
            sum += advantage
          }
        }
        expect(sum).toBeCloseTo(0, 9)
      }),
    )
  })
})
