import { expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import type { KnobSpec } from '../../contracts/index.ts'
import { knobImportance } from './knob-importance.ts'

const space: Record<string, KnobSpec> = {
  rate: { kind: 'range', low: 0.001, high: 1, log: true, integer: false },
  width: { kind: 'range', low: 1, high: 64, log: true, integer: true },
  idle: { kind: 'choice', values: ['a', 'b', 'c'], ordered: false },
  fixed: { kind: 'choice', values: [1, 2], ordered: true },
}

it('finds the knob that scores move with, and where it is best; one that never moved is in no row (USE-150)', () => {
  const random = draws('knob importance')
  const tried = Array.from({ length: 60 }, () => {
    const knobs = {
      rate: 10 ** (-3 + 3 * random.float()),
      width: 1 + random.int(64),
      idle: ['a', 'b', 'c'][random.int(3)] ?? 'a',
      fixed: 1,
    }
    const value = (Math.log10(knobs.rate) + 2) ** 2 + 0.1 * Math.log(knobs.width) + 0.02 * random.normal()
    return { knobs, value, seeds: 2 }
  })
  const found = knobImportance(space, tried, 0.02) ?? []
  expect(found.map(({ name }) => name).sort()).toEqual(['idle', 'rate', 'width'])
  const [first] = found
  expect(first?.name).toBe('rate')
  expect(first?.share).toBeGreaterThan(0.6)
  expect(found.find(({ name }) => name === 'idle')?.share).toBeLessThan(0.1)
  const best = first?.effects.toSorted((a, b) => a.mean - b.mean)[0]?.value
  expect(Number(best)).toBeGreaterThan(0.003)
  expect(Number(best)).toBeLessThan(0.05)
  expect(knobImportance(space, tried.slice(0, 5))).toBeUndefined()
  expect(
    knobImportance(
      space,
      tried.map((each) => ({ ...each, value: 1 })),
    ),
  ).toBeUndefined()
})
