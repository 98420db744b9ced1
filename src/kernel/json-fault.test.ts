import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../tests/scale.ts'
import { jsonFault, jsonPlace } from './json-fault.ts'

describe('jsonFault', () => {
  it.each([
    ['', 0, 'it ends where a value should follow'],
    ['{"a": 1', 7, 'it ends where , or } should follow'],
    ['[1, ', 4, 'it ends where a value should follow'],
    ['{"a" 1}', 5, 'expected : after a key, got "1"'],
    ['{a: 1}', 1, 'expected a key in double quotes or }, got "a"'],
    ['{"a": 1,}', 8, 'expected a key in double quotes, got "}"'],
    ['[1 2]', 3, 'expected , or ], got "2"'],
    ['[1}', 2, 'expected , or ], got "}"'],
    ['{"a": tru}', 6, 'expected a value, got "t"'],
    ['{"a": NaN}', 6, 'expected a value, got "N"'],
    ["{'a': 1}", 1, 'expected a key in double quotes or }, got "\'"'],
    ['{} {}', 3, 'there is more text after the value'],
    ['{"a": "b', 8, 'a text is not closed by a quote'],
    ['{"a": "\\x"}', 7, 'a backslash is followed by no known escape'],
    ['{"a": "\t"}', 7, '"\\t" must be escaped inside a text'],
    ['[01]', 2, 'expected , or ], got "1"'],
  ])('finds the fault of %j (PLG-5)', (text, at, reason) => {
    expect(jsonFault(text)).toEqual({ at, reason })
    expect(() => JSON.parse(text)).toThrow()
  })

  it('finds none in what JSON.parse takes (PLG-5)', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 1), (text, indent) => {
        expect(jsonFault(JSON.stringify(JSON.parse(text), null, indent))).toBeUndefined()
      }),
    )
  })

  it('agrees with JSON.parse on every text (PLG-5)', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '1',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\\',
      'u00e4',
      '\n',
      'a',
    )
    fc.assert(
      fc.property(fc.string({ unit: piece, maxLength: 12 }), (text) => {
        let isJson = true
        try {
          JSON.parse(text)
        } catch {
          isJson = false
        }
        expect(jsonFault(text) === undefined).toBe(isJson)
      }),
      { numRuns: scaled(2000) },
    )
  })

  it('takes nesting that would end a stack (PLG-5)', () => {
    expect(jsonFault('['.repeat(300_000))).toMatchObject({ at: 300_000 })
  })

  it('tells where the elements of a list begin (PLG-5)', () => {
    const starts: number[] = []
    jsonFault(' [1, [2, 3] ,{"a": [4]}]', (at) => starts.push(at))
    expect(starts).toEqual([2, 5, 13])
  })
})

describe('jsonPlace', () => {
  it('finds values by their path, and parents of those that are not there (MOD-5)', () => {
    const text = '{\n  "a": [1, {"b\\"": "x"}],\n  "c": null\n}'
    const at = (...path: (string | number)[]) => jsonPlace(text, path, 'f')
    expect(at()).toEqual({ file: 'f', line: 1, col: 1 })
    expect(at('a', 1, 'b"')).toEqual({ file: 'f', line: 2, col: 20, path: 'a.1.b"' })
    expect(at('c')).toMatchObject({ line: 3, col: 8 })
    expect(at('a', 7)).toMatchObject({ line: 2, col: 8 })
    expect(at('c', 'd')).toMatchObject({ line: 3, col: 8 })
    expect(jsonPlace('{"a": 1, "a": 2}', ['a'], 'f')).toMatchObject({ col: 15 })
  })

  it('finds every value of every document (MOD-5)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1), (document, indent) => {
        const text = JSON.stringify(document, null, indent)
        for (const { path, value } of valuesOf(document, [])) {
          const { line, col } = jsonPlace(text, path, 'f')
          const rest = text
            .split('\n')
            .slice(line - 1)
            .join('\n')
            .slice(col - 1)
          const written = JSON.stringify(value)
          const begin = written.startsWith('{') || written.startsWith('[') ? written.slice(0, 1) : written
          expect(rest.startsWith(begin)).toBe(true)
        }
      }),
    )
  })
})

type Step = string | number

function* valuesOf(value: unknown, path: Step[]): Generator<{ path: Step[]; value: unknown }> {
  yield { path, value }
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* valuesOf(item, [...path, index])
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* valuesOf(item, [...path, key])
  }
}
