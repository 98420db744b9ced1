import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatPath, parsePath } from './dotted-path.ts'

describe('dotted paths', () => {
  it.each([
    ['runs.0.seed', ['runs', 0, 'seed']],
    ['"a.b".c', ['a.b', 'c']],
    ["'a.b'.c", ['a.b', 'c']],
    ['a\\.b.c', ['a.b', 'c']],
    ['"1"', ['1']],
    ['\\1', ['1']],
    ['01', ['01']],
    ['"a\\"b\\n\\u0041"', ['a"b\nA']],
    ['ünï.cødé', ['ünï', 'cødé']],
    ['""', ['']],
  ])('reads %s (CFG-4)', (text, path) => {
    expect(parsePath(text)).toEqual({ path })
  })

  it.each([
    ['', 'a step of the path is empty', 0],
    ['a.', 'a step of the path is empty', 2],
    ['.a', 'a step of the path is empty', 0],
    ['"a', 'the quote is not closed', 0],
    ['a."b', 'the quote is not closed', 2],
    ['"a"b', 'a dot is missing after the quote', 3],
    ['a\\', 'nothing follows the backslash', 1],
  ])('refuses %j (CFG-4)', (text, message, offset) => {
    expect(parsePath(text)).toEqual({ message, offset })
  })

  it('read what they print (CFG-4)', () => {
    const step = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.nat(999_999),
      fc.constantFrom('0', '12', 'a.b', '"', "'", '\\', '=', ' ', '\n', '\u2028'),
    )
    fc.assert(
      fc.property(fc.array(step, { minLength: 1 }), (path) => {
        expect(parsePath(formatPath(path))).toEqual({ path })
      }),
    )
  })

  it('never throw (CFG-4)', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', "'", '\\', '.', 'a', '0', 'u', '=', '\uD800') }),
        (text) => void parsePath(text),
      ),
    )
  })
})
