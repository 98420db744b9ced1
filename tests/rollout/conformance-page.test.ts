import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const rows = [...read('docs/reference/harbor-conformance.md').matchAll(/^\| (\d+) +\|.*\| (`[^|]+`) +\|$/gm)].map(
  ([, number = '', files = '']) => ({
    number: Number(number),
    files: [...files.matchAll(/`([^`]+)`/g)].map(([, f = '']) => f),
  }),
)

describe('the page of conformance', () => {
  it('has every statement once, in order (HAR-82)', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 83 }, (_, i) => i + 1))
  })

  it('names tests that cite their statement (HAR-82)', () => {
    for (const { number, files } of rows) {
      expect(files.length).toBeGreaterThan(0)
      for (const file of files) expect(read(file)).toMatch(new RegExp(`HAR-${number}\\b`))
    }
  })
})
