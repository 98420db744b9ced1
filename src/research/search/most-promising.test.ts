import { describe, expect, it } from 'vitest'
import { attemptOf } from '../../../tests/search-states.ts'
import type { KnobSpec, Knobs } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { imagineChanges } from './imagine-changes.ts'
import type { MemoryModel } from './memory-model.ts'
import { mostPromising, type Origin } from './most-promising.ts'

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
const model: MemoryModel = {
  best: [low, high, other],
  top: 0,
  predict: () => ({ mean: 0, sd: 1 }),
  imagine: (knobs) => ({ mean: names.filter((name) => knobs[name] === 1).length, sd: 0.1 }),
}
const options = (attempts = [low, high, other]) => {
  return { model, state: { attempts, space }, boldness: 1, random: keyedRandom(1, 'imagine') }
}

describe('mostPromising', () => {
  it('is the base around which the best changes are imagined, whatever its own place (RES-114)', () => {
    expect(mostPromising([from(low), from(high)], options())).toEqual(from(high))
    expect(mostPromising([from(high), from(low)], options())).toEqual(from(high))
  })

  it('is a pair whose values are good together (RES-114)', () => {
    expect(mostPromising([from(low), from(high), from(high, other)], options())).toEqual(from(high, other))
  })

  it('expects nothing of what was tried (RES-114)', () => {
    const random = keyedRandom(2, 'imagine')
    const around = imagineChanges({ space, base: high.knobs, count: 2000, random })
    const tried = around.map((knobs, i) => attemptOf(3 + i, { knobs }))
    expect(mostPromising([from(low), from(high)], options([low, high, ...tried]))).toEqual(from(low))
  })

  it('is absent where nothing can be imagined (RES-114)', () => {
    const bare = attemptOf(1)
    expect(mostPromising([from(low), from(bare)], { ...options(), state: { attempts: [low], space: {} } })).toBe(
      undefined,
    )
    expect(mostPromising([], options())).toBe(undefined)
  })
})
