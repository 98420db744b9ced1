import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptOf } from '../../../tests/search-states.ts'
import type { KnobSpec, Knobs } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import type { AttemptModel } from '../surrogate/attempt-model.ts'
import { imagineChanges, mostPromising, type Origin } from './most-promising.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const space = Object.fromEntries(
  names.map((name): [string, KnobSpec] => [name, { kind: 'choice', values: [0, 1], ordered: false }]),
)
const knobsOf = (bits: string): Knobs => Object.fromEntries(names.map((name, i) => [name, Number(bits[i])]))
const low = attemptOf(0, { knobs: knobsOf('000000') })
const high = attemptOf(1, { knobs: knobsOf('111000') })
const other = attemptOf(2, { knobs: knobsOf('000111') })
const from = (...parents: Origin['parents']): Origin => ({ parents, mode: parents.length > 1 ? 'combine' : 'improve' })

// The more knobs are on, the better.
const model: AttemptModel = {
  best: [low, high, other],
  top: 0,
  predict: () => ({ mean: 0, sd: 1 }),
  chanceOver: () => 0.5,
  worthOfSeed: () => 0,
  imagine: (knobs) => ({ mean: names.filter((name) => knobs[name] === 1).length, sd: 0.1 }),
}
const options = (attempts = [low, high, other]) => {
  return { model, state: { attempts, space }, boldness: 1, random: keyedRandom(1, 'imagine') }
}

describe('mostPromising', () => {
  it('is the base around which the best changes are imagined, whatever its own place (RES-114)', () => {
    expect(mostPromising([from(low), from(high)], options())).toMatchObject(from(high))
    expect(mostPromising([from(high), from(low)], options())).toMatchObject(from(high))
  })

  it('is a pair whose values are good together (RES-114)', () => {
    expect(mostPromising([from(low), from(high), from(high, other)], options())).toMatchObject(from(high, other))
  })

  it('expects nothing of what was tried (RES-114)', () => {
    const random = keyedRandom(2, 'imagine')
    const around = imagineChanges({ space, base: high.knobs, count: 2000, random })
    const tried = around.map((knobs, i) => attemptOf(3 + i, { knobs }))
    expect(mostPromising([from(low), from(high)], options([low, high, ...tried]))).toMatchObject(from(low))
  })

  it('is absent where nothing can be imagined (RES-114)', () => {
    const bare = attemptOf(1)
    expect(mostPromising([from(low), from(bare)], { ...options(), state: { attempts: [low], space: {} } })).toBe(
      undefined,
    )
    expect(mostPromising([], options())).toBe(undefined)
  })
})

const imaginedSpace = {
  a: { kind: 'choice', values: ['x', 'y', 'z'], ordered: false },
  b: { kind: 'choice', values: [1, 2], ordered: true },
  rate: { kind: 'range', low: 1e-4, high: 1, log: true, integer: false },
  width: { kind: 'range', low: 2, high: 8, log: false, integer: true },
  fixed: { kind: 'choice', values: ['only'], ordered: false },
} satisfies Parameters<typeof imagineChanges>[0]['space']
const base: Knobs = { a: 'x', b: 1, rate: 0.01, width: 4, fixed: 'only', other: 'kept' }

describe('imagineChanges', () => {
  it('turns one to three knobs within what they may be, and no other (RES-114)', () => {
    fc.assert(
      fc.property(fc.nat(1000), (seed) => {
        const changes = imagineChanges({ space: imaginedSpace, base, count: 20, random: keyedRandom(seed, 'imagine') })
        expect(changes).toHaveLength(20)
        expect(new Set(changes.map((knobs) => JSON.stringify(knobs))).size).toBeGreaterThan(5)
        for (const { a, b, rate, width, ...rest } of changes) {
          expect(rest).toEqual({ fixed: 'only', other: 'kept' })
          expect(imaginedSpace.a.values).toContain(a)
          expect(imaginedSpace.b.values).toContain(b)
          expect(rate).toBeGreaterThanOrEqual(1e-4)
          expect(rate).toBeLessThanOrEqual(1)
          expect([2, 3, 4, 5, 6, 7, 8]).toContain(width)
          const turned = [a !== base.a, b !== base.b, rate !== base.rate, width !== base.width].filter(Boolean)
          expect(turned.length).toBeLessThanOrEqual(3)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('takes the values of a partner where it differs (RES-114)', () => {
    const partner = { ...base, a: 'z', rate: 0.5 }
    for (const { a, rate } of imagineChanges({
      space: imaginedSpace,
      base,
      partner,
      count: 50,
      random: keyedRandom(1, 'imagine'),
    })) {
      expect(['x', 'z']).toContain(a)
      expect([0.01, 0.5]).toContain(rate)
    }
  })

  it('imagines nothing where no knob can be turned (RES-114)', () => {
    const random = keyedRandom(1, 'imagine')
    expect(imagineChanges({ space: {}, base, count: 5, random })).toEqual([])
    expect(imagineChanges({ space: imaginedSpace, base: { fixed: 'only' }, count: 5, random })).toEqual([])
  })
})
