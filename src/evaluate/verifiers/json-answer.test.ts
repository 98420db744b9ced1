import { describe, expect, it } from 'vitest'
import { equalJson } from './json-answer.ts'

describe('values of JSON', () => {
  it('are equal in any order of keys, and -0 is 0 (EVL-3)', () => {
    expect(equalJson({ a: [0, 1], b: null }, { b: null, a: [-0, 1] })).toBe(true)
    expect(equalJson(undefined, undefined)).toBe(true)
  })

  it('differ in type, order of items and what is missing (EVL-3)', () => {
    for (const [one, other] of [
      [0, '0'],
      [0, null],
      [0, false],
      [
        [1, 2],
        [2, 1],
      ],
      [{}, { a: null }],
      [undefined, null],
    ])
      expect(equalJson(one, other)).toBe(false)
  })
})
