import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonPlace } from './json-place.ts'

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
