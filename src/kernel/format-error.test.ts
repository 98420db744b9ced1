import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Excerpt, Problem } from './evsys-error.ts'
import { formatProblem, formatProblems } from './format-error.ts'
import { textWidth } from './text-forms.ts'

const problem: Problem = {
  code: 'PLUGIN_UNKNOWN',
  message: 'no algorithm is called "focal_sf"',
  where: { file: 'experiments/focal.yaml', line: 14, col: 9, path: 'algorithm.kind' },
  fix: 'did you mean "focal_sft"?',
  excerpt: { text: '  kind: focal_sf', line: 14, col: 9, length: 8 },
}

describe('formatProblem', () => {
  it('prints place, code, message, source with caret, and fix (KER-6)', () => {
    expect(formatProblem(problem)).toBe(`experiments/focal.yaml:14:9  PLUGIN_UNKNOWN
  algorithm.kind: no algorithm is called "focal_sf"
  14 |   kind: focal_sf
     |         ^^^^^^^^
  fix: did you mean "focal_sft"?`)
  })

  it('leaves out what is not known', () => {
    expect(formatProblem({ code: 'INTERNAL', message: 'boom' })).toBe('INTERNAL\n  boom')
    expect(formatProblem({ code: 'DATA_READ', message: 'm', where: { file: 'f', line: 1, col: 1 } })).toBe(
      'f:1:1  DATA_READ\n  m',
    )
  })

  it('separates problems by a blank line', () => {
    const short: Problem = { code: 'INTERNAL', message: 'boom' }
    expect(formatProblems([short, short])).toBe('INTERNAL\n  boom\n\nINTERNAL\n  boom')
  })

  it('adds colour only when asked, and nothing but colour', () => {
    const colored = formatProblem(problem, { color: true })
    expect(colored).toContain('\u001B[1;31mPLUGIN_UNKNOWN\u001B[0m')
    expect(stripVTControlCharacters(colored)).toBe(formatProblem(problem))
  })

  it('keeps every line of a message inside its problem', () => {
    const text = formatProblem({ code: 'INTERNAL', message: 'one\r\nfake.yaml:1:1  INTERNAL\n  forged', fix: 'a\nb\n' })
    expect(text).toBe('INTERNAL\n  one\n    fake.yaml:1:1  INTERNAL\n      forged\n  fix: a\n    b')
  })

  it('shows control characters, escapes and direction overrides instead of sending them', () => {
    const text = formatProblem({
      code: 'CONFIG_INVALID',
      message: '\u001B[2Jcleared\u0007',
      where: { file: 'a\nb.yaml', line: 1, col: 1, path: 'x\u202Ey' },
      fix: '\u009B31m',
      excerpt: { text: '\u001B]0;title\u0007: 1', line: 1, col: 12, length: 1 },
    })
    expect(text).toBe(
      [
        'a␊b.yaml:1:1  CONFIG_INVALID',
        '  x<U+202E>y: ␛[2Jcleared␇',
        '  1 | ␛]0;title␇: 1',
        '    |            ^',
        '  fix: <U+009B>31m',
      ].join('\n'),
    )
  })
})

describe('the caret', () => {
  const view = (excerpt: Partial<Excerpt> & { text: string }) =>
    formatProblem({ code: 'INTERNAL', message: 'm', excerpt: { line: 1, col: 1, length: 1, ...excerpt } })
      .split('\n')
      .slice(2)

  it('stands under text after tabs', () => {
    expect(view({ text: '\tkey:\tvalue', col: 7, length: 5 })).toEqual([
      '  1 |     key:    value',
      '    |             ^^^^^',
    ])
  })

  it('counts wide, combining and joined characters as the screen does', () => {
    expect(view({ text: '名前: bad', col: 5, length: 3 })).toEqual(['  1 | 名前: bad', '    |       ^^^'])
    expect(view({ text: '名前: bad', col: 1, length: 2 })[1]).toBe('    | ^^^^')
    expect(view({ text: 'e\u0301e\u0301: bad', col: 7, length: 3 })[1]).toBe('    |     ^^^')
    expect(view({ text: '👩‍👩‍👧: bad', col: 11, length: 3 })[1]).toBe('    |     ^^^')
  })

  it('covers the whole character when it points into its middle', () => {
    expect(view({ text: 'a😀b', col: 3, length: 1 })[1]).toBe('    |  ^^')
  })

  it.each([
    ['past the end of the line', { text: 'abc', col: 50, length: 3 }, '    |    ^'],
    ['on an empty line', { text: '', col: 1, length: 1 }, '    | ^'],
    ['with no length', { text: 'abc', col: 2, length: 0 }, '    |  ^'],
    ['before the line', { text: 'abc', col: 0, length: 1 }, '    | ^'],
    ['longer than the line', { text: 'abc', col: 2, length: 900 }, '    |  ^^'],
  ])('is there %s', (_where, excerpt, caret) => {
    expect(view(excerpt)[1]).toBe(caret)
  })

  it('aligns several lines by their numbers and marks the first', () => {
    expect(view({ text: 'a: [\n  b', line: 9, col: 4 })).toEqual(['   9 | a: [', '     |    ^', '  10 |   b'])
  })

  it('stays in view on a line of a megabyte', () => {
    const line = `${'x'.repeat(500_000)}WRONG${'y'.repeat(500_000)}`
    const [text = '', caret = ''] = view({ text: line, col: 500_001, length: 5 })
    const at = caret.indexOf('^')
    expect(text.slice(at, at + 5)).toBe('WRONG')
    expect(caret.slice(at)).toBe('^^^^^')
    expect(text).toMatch(/^ {2}1 \| …x+WRONGy+…$/)
    expect(text.length).toBeLessThan(120)
  })

  it('stays in view at both ends of a long line', () => {
    const line = 'x'.repeat(400)
    expect(view({ text: line, col: 1 })).toEqual([`  1 | ${'x'.repeat(100)}…`, '    | ^'])
    expect(view({ text: line, col: 400 })).toEqual([`  1 | …${'x'.repeat(100)}`, `    | ${' '.repeat(100)}^`])
    expect(view({ text: line, col: 401 })[1]).toBe(`    | ${' '.repeat(101)}^`)
  })

  it('stands under the marked text, whatever the line holds', () => {
    const chunk = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom('\t', 'e\u0301', '名', '👩‍👩‍👧', '\u001B[31m', '\ud800', 'x'.repeat(90)),
    )
    fc.assert(
      fc.property(chunk, chunk, (before, after) => {
        const lineBefore = before.replace(/[\r\n]/g, '')
        // A letter after a space is never joined with its neighbours, so it is found again.
        const text = `${lineBefore} Q;${after.replace(/[\r\n]/g, '')}`
        const col = lineBefore.length + 2
        const [line = '', caret = '', ...rest] = view({ text, col, length: 1 })
        expect(rest).toEqual([])
        expect(/\p{Cc}/u.test(line)).toBe(false)
        expect(caret).toMatch(/^ {4}\| *\^$/)
        const upToMark = line.slice(0, line.indexOf(' Q;', 5) + 1)
        if (!lineBefore.includes(' Q;')) expect(textWidth(upToMark)).toBe(caret.length - 1)
      }),
    )
  })
})
