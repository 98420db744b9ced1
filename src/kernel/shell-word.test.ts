import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shellWord } from './shell-word.ts'

describe('shellWord', () => {
  it('quotes only what needs it (CLI-1)', () => {
    expect(shellWord('my-lab/größe.yaml')).toBe('my-lab/größe.yaml')
    expect(shellWord('my lab')).toBe("'my lab'")
    expect(shellWord("it's")).toBe(`'it'\\''s'`)
    expect(shellWord('')).toBe("''")
  })

  it('is read back by a shell as it was (CLI-1)', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((each) => !each.includes('\0'))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (words) => {
        const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`
        expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(words)
      }),
      { numRuns: 20 },
    )
  })
})
