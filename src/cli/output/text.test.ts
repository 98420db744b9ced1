import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shorten, shortPath } from './text.ts'

describe('shortPath', () => {
  it.each([
    ['/a/b/c.yaml', '/a', 'b/c.yaml'],
    ['/a/..b/c.yaml', '/a', '..b/c.yaml'],
    ['/a', '/a', '/a'],
    ['/b/c.yaml', '/a', '/b/c.yaml'],
    ['/ab/c.yaml', '/a', '/ab/c.yaml'],
    ['b/c.yaml', '/a', 'b/c.yaml'],
    ['<stdin>', '/a', '<stdin>'],
  ])('shows %s in %s as %s (ERR-1)', (path, cwd, short) => {
    expect(shortPath(path, cwd)).toBe(short)
  })
})

describe('shorten', () => {
  it('is never longer than asked for, and leaves what fits (CLI-13)', async () => {
    await fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 50 }), (text, most) => {
        const short = shorten(text, most)
        expect(short.length).toBeLessThanOrEqual(most)
        expect(short === text).toBe(text.length <= most)
        expect(() => encodeURIComponent(short)).not.toThrow() // it throws on half a character
      }),
    )
  })
})
