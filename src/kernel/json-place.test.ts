import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonPlace } from './json-fault.ts'

type Path = (string | number)[]

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((child, i) => [i, child])
    : Object.entries(value)
  return [path, ...entries.flatMap(([key, child]) => pathsOf(child, [...path, key]))]
}

function offset(text: string, { line, col }: { line: number; col: number }): number {
  const before = text.split('\n').slice(0, line - 1)
  return before.reduce((sum, each) => sum + each.length + 1, 0) + col - 1
}

describe('jsonPlace', () => {
  it('finds every value of every document, however it is laid out (CLI-18)', async () => {
    await fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        for (const path of pathsOf(JSON.parse(text))) {
          const found = path.reduce<unknown>((at, step) => Reflect.get(Object(at), step), JSON.parse(text))
          const start = offset(text, jsonPlace(text, path, 'f'))
          // A second JSON text cannot begin where a value does: cutting before it leaves the value first.
          expect(text.slice(start).startsWith(JSON.stringify(found)[0] ?? '?')).toBe(true)
          if (typeof found !== 'object') expect(text.slice(start).startsWith(JSON.stringify(found))).toBe(true)
        }
      }),
    )
  })

  it('stops at the nearest value above a path that leads nowhere (CLI-18)', () => {
    const text = '{\n "a": [\n  1,\n  { "b": "}" }\n ]\n}'
    expect(jsonPlace(text, ['a', 1, 'b'], 'f')).toMatchObject({ line: 4, col: 10 })
    expect(jsonPlace(text, ['a', 1, 'x', 'y'], 'f')).toMatchObject({ line: 4, col: 3 })
    expect(jsonPlace(text, ['a', 7], 'f')).toMatchObject({ line: 2, col: 7 })
    expect(jsonPlace(text, [], 'f')).toMatchObject({ line: 1, col: 1 })
  })
})
