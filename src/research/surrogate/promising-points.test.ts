import { describe, expect, it } from 'vitest'
import { attemptOf, stateOf } from '../../../tests/search-states.ts'
import type { Attempt, KnobSpec, Knobs, SearchState } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { attemptModel } from './attempt-model.ts'
import { promisingPoints, valueAt } from './promising-points.ts'

const space: Record<string, KnobSpec> = {
  lr: { kind: 'range', low: 1e-4, high: 1, log: true, integer: false },
  layers: { kind: 'range', low: 1, high: 8, log: false, integer: true },
  activation: { kind: 'choice', values: ['relu', 'tanh', 'gelu'], ordered: false },
}

const lossOf = ({ lr, layers, activation }: Knobs) =>
  Math.abs(Math.log10(Number(lr)) + 2) + Math.abs(Number(layers) - 5) / 4 + (activation === 'gelu' ? 0 : 0.5)

function sessionOf(count: number): SearchState {
  const random = keyedRandom(4, 'points')
  const attempts = Array.from({ length: count }, (_, number): Attempt => {
    const knobs = {
      lr: Number((10 ** (-4 * random.float())).toPrecision(3)),
      layers: 1 + random.int(8),
      activation: random.pick(['relu', 'tanh', 'gelu']),
    }
    return attemptOf(number, { knobs, change: 'knobs', scores: [{ seed: 1, value: lossOf(knobs), secondary: {} }] })
  })
  return stateOf(attempts, { space, rules: 2 })
}

describe('promisingPoints', () => {
  const state = sessionOf(30)
  const [base] = state.attempts
  const options = {
    model: attemptModel(state),
    space,
    base: base?.knobs ?? {},
    parents: ['a0'],
    boldness: 1,
    random: keyedRandom(1, 'climb'),
  }

  it('are better than what was tried, lie in the space, and are none of it (RES-537)', () => {
    const tried = new Set(state.attempts.map(({ knobs }) => JSON.stringify(knobs)))
    const found = promisingPoints({ ...options, isNew: (knobs) => !tried.has(JSON.stringify(knobs)) })
    expect(found.length).toBeGreaterThan(0)
    for (const { knobs } of found) {
      expect(tried.has(JSON.stringify(knobs))).toBe(false)
      expect(Number(knobs.lr)).toBeGreaterThanOrEqual(1e-4)
      expect(Number(knobs.lr)).toBeLessThanOrEqual(1)
      expect(Number.isInteger(knobs.layers)).toBe(true)
      expect(['relu', 'tanh', 'gelu']).toContain(knobs.activation)
    }
    const losses = state.attempts.map(({ knobs }) => lossOf(knobs)).sort((a, b) => a - b)
    expect(lossOf(found[0]?.knobs ?? {})).toBeLessThan(losses[6] ?? 0)
    expect(found.map(({ worth }) => worth)).toEqual(found.map(({ worth }) => worth).sort((a, b) => b - a))
  })

  it('are none where nothing is new, and none without a knob (RES-537)', () => {
    expect(promisingPoints({ ...options, isNew: () => false })).toEqual([])
    expect(promisingPoints({ ...options, space: {}, isNew: () => true })).toEqual([])
  })

  it('are written as a person would (RES-537)', () => {
    const range = { kind: 'range', low: 1e-4, high: 1, log: true, integer: false } as const
    expect([0, 0.5, 1, 2].map((share) => valueAt(range, share))).toEqual([1e-4, 0.01, 1, 1])
    expect(valueAt({ kind: 'range', low: 1, high: 8, log: false, integer: true }, 0.49)).toBe(4)
  })
})

describe('a model of attempts', () => {
  it('leaves a change of knobs to the knobs, whatever its category is (RES-539)', () => {
    const session = sessionOf(12)
    const named = (category: Attempt['category']): SearchState => ({
      ...session,
      attempts: session.attempts.map((attempt) => ({
        ...attempt,
        category: attempt.number === 0 ? attempt.category : category,
      })),
    })
    const beliefs = (state: SearchState) => {
      const { imagine, best } = attemptModel(state)
      return [best.map(({ id }) => id), imagine({ lr: 0.01, layers: 5, activation: 'gelu' }, ['a3'])]
    }
    expect(beliefs(named('architectural'))).toEqual(beliefs(named('hyperparameter')))
    const first = (category: Attempt['category']) => ({ ...named(category), rules: 1 })
    expect(beliefs(first('architectural'))).not.toEqual(beliefs(first('hyperparameter')))
  })

  it('says how likely one is better than another: its own sum is one (RES-535)', () => {
    const { best, chanceOver } = attemptModel(sessionOf(20))
    const [top, , third] = best
    if (top === undefined || third === undefined) throw new Error('nothing was scored')
    const chance = chanceOver(top.id, third.id) ?? 0
    expect(chance).toBeGreaterThan(0.5)
    expect(chance + (chanceOver(third.id, top.id) ?? 0)).toBeCloseTo(1)
    expect(chanceOver(top.id, 'unknown')).toBeUndefined()
  })

  it('says what one more seed is worth: most for what is close and was hardly measured (RES-541)', () => {
    const session = sessionOf(20)
    const { best, worthOfSeed } = attemptModel(session)
    const [top, second] = best
    const last = best.at(-1)
    if (top === undefined || second === undefined || last === undefined) throw new Error('nothing was scored')
    const worth = worthOfSeed(second.id, top.id) ?? 0
    expect(worth).toBeGreaterThan(worthOfSeed(last.id, top.id) ?? 1)
    const often = session.attempts.map((attempt) => ({
      ...attempt,
      scores: attempt.id === second.id ? [0, 1, 2, 3, 4].flatMap(() => attempt.scores) : attempt.scores,
    }))
    expect(attemptModel({ ...session, attempts: often }).worthOfSeed(second.id, top.id) ?? 1).toBeLessThan(worth)
    expect(worthOfSeed(top.id, top.id)).toBeUndefined()
    expect(worthOfSeed('unknown', top.id)).toBeUndefined()
  })
})
