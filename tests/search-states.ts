// Sessions for tests of strategies: any attempts that a loop could have made.
import fc from 'fast-check'
import type { Attempt, SearchState } from '../src/contracts/index.ts'

const knobSpace: SearchState['space'] = {
  lr: { kind: 'range', low: 1e-4, high: 1, log: true, integer: false },
  width: { kind: 'choice', values: [16, 32, 64], ordered: true },
  activation: { kind: 'choice', values: ['relu', 'tanh'], ordered: false },
}

/** An attempt of a number, with what a test says of it. */
export function attemptOf(number: number, facts: Partial<Attempt> = {}): Attempt {
  return {
    id: `a${number}`,
    number,
    parents: number === 0 ? [] : ['a0'],
    title: `attempt ${number}`,
    hypothesis: '',
    family: number === 0 ? 'baseline' : 'lr',
    category: 'hyperparameter',
    mode: 'improve',
    knobs: {},
    fingerprint: `f${number}`,
    lines: 10,
    scores: [],
    verdict: number === 0 ? 'provisional' : 'discarded',
    ...facts,
  }
}

/** A state of these attempts; the last that was kept is the incumbent. */
export function stateOf(attempts: readonly Attempt[], facts: Partial<SearchState> = {}): SearchState {
  const kept = attempts.filter(({ verdict }) => verdict === 'provisional')
  return {
    direction: 'min',
    attempts,
    incumbent: kept.at(-1)?.id ?? 'a0',
    space: knobSpace,
    banned: [],
    ...facts,
  }
}

const families = ['lr', 'width', 'schedule', 'layers']

const facts = fc.record({
  family: fc.constantFrom(...families),
  category: fc.constantFrom('architectural', 'optimizer', 'hyperparameter', 'regularization'),
  knobs: fc.record({
    lr: fc.constantFrom(0.001, 0.01, 0.1),
    width: fc.constantFrom(16, 32, 64),
    activation: fc.constantFrom('relu', 'tanh'),
  }),
  parent: fc.nat(),
  outcome: fc.oneof(
    { weight: 6, arbitrary: fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom('failed', 'racing') },
  ),
  verdict: fc.constantFrom('provisional', 'discarded', 'inconclusive'),
})

/** Any session. */
export const anyState: fc.Arbitrary<SearchState> = fc
  .record({
    made: fc.array(facts, { maxLength: 25 }),
    direction: fc.constantFrom('min', 'max'),
    banned: fc.subarray(families, { maxLength: 2 }),
    pinned: fc.option(fc.nat(), { nil: undefined }),
  })
  .map(({ made, direction, banned, pinned }) => {
    const attempts = [attemptOf(0, { scores: [{ seed: 1, value: 0, secondary: {} }], knobs: { lr: 0.1 } })]
    for (const { family, category, knobs, parent, outcome, verdict } of made) {
      const number = attempts.length
      const base = { family, category, knobs, parents: [`a${parent % number}`] }
      if (outcome === 'racing') {
        const { verdict: _none, ...racing } = attemptOf(number, base)
        attempts.push(racing)
      } else if (outcome === 'failed') {
        attempts.push(
          attemptOf(number, { ...base, verdict: 'failed', failure: { class: 'crash', reason: 'it crashed' } }),
        )
      } else {
        const scores = outcome.map((value, seed) => ({ seed, value, secondary: {} }))
        attempts.push(attemptOf(number, { ...base, verdict, scores }))
      }
    }
    const held = pinned === undefined ? {} : { pinned: `a${pinned % attempts.length}` }
    return stateOf(attempts, { direction, banned, ...held })
  })
