import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { manualClock } from './clock.ts'
import { createIds } from './ids.ts'
import { keyedRandom, systemRandom } from './keyed-random.ts'

const clock = manualClock(1_700_000_000_000)
const make = () => createIds({ clock, random: keyedRandom(1, 'ids') })

describe('createIds', () => {
  it('makes ids that name their kind and their time', () => {
    const id = make().next('run')
    expect(id).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(id.slice(0, 14)).toBe('run_01hf7yat00')
  })

  it('repeats exactly with the same clock and randomness (KER-10)', () => {
    const [left, right] = [make(), make()]
    for (let i = 0; i < 100; i++) expect(left.next('exp')).toBe(right.next('exp'))
  })

  it('sorts by time, within one millisecond and when the clock goes back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 50 }), (moves) => {
        const time = manualClock(1_000)
        const ids = createIds({ clock: time, random: systemRandom })
        const made = moves.map((move) => {
          time.set(time.now() + move)
          return ids.next('run')
        })
        expect(made.toSorted()).toEqual(made)
        expect(new Set(made).size).toBe(made.length)
      }),
    )
  })

  it('goes on in the next millisecond when one is full', () => {
    const ids = createIds({ clock: manualClock(5), random: { uint32: () => 2 ** 32 - 1 } })
    const first = ids.next('run')
    const second = ids.next('run')
    expect(first).toBe('run_0000000005zzzzzzzzzzzzzzzz')
    expect(second > first).toBe(true)
    expect(second.slice(0, 14)).toBe('run_0000000006')
  })

  it.each([Number.NEGATIVE_INFINITY, -1, 0, 1.5, 2 ** 48, Number.POSITIVE_INFINITY])(
    'stays valid at time %d',
    (now) => {
      const id = createIds({ clock: { now: () => now }, random: systemRandom }).next('run')
      expect(id).toMatch(/^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
    },
  )

  it.each(['', 'Run', '1run', 'my_run', '../x', 'a'.repeat(17), 'run\n'])('refuses the prefix %j', (prefix) => {
    expect(() => make().next(prefix)).toThrow(RangeError)
  })
})
