import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesText,
  countText,
  durationText,
  glyphsOf,
  numberText,
  shellWord,
  textWidth,
  usdText,
  visibleText,
} from './text-forms.ts'

describe('visibleText', () => {
  it('leaves ordinary text of all scripts alone', () => {
    for (const text of ['plain', 'naïve café', '日本語', 'العربية', '👩‍👩‍👧 ❤️', 'नमस्ते', 'a\u200Cb']) {
      expect(visibleText(text)).toBe(text)
    }
  })

  it.each([
    ['escape', '\u001B[31m', '␛[31m'],
    ['delete', '\u007F', '␡'],
    ['C1', '\u009B', '<U+009B>'],
    ['override', '\u202E', '<U+202E>'],
    ['isolate', '\u2066', '<U+2066>'],
    ['zero-width space', 'a\u200Bb', 'a<U+200B>b'],
    ['tag characters', '\u{E0041}', '<U+E0041>'],
    ['line separator', '\u2028', '<U+2028>'],
    ['lone surrogate', 'a\uD800b', 'a\uFFFDb'],
    ['newline', 'a\nb', 'a␊b'],
  ])('shows %s', (_what, text, shown) => {
    expect(visibleText(text)).toBe(shown)
  })

  it('keeps newlines when asked, and only them', () => {
    expect(visibleText('a\r\nb\t', { newlines: true })).toBe('a␍\nb␉')
  })

  it('leaves nothing that acts on a terminal, and changes nothing twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = visibleText(text)
        expect(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u.test(shown)).toBe(false)
        expect(visibleText(shown)).toBe(shown)
      }),
    )
  })
})

describe('textWidth', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['😀', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤', 1],
    ['❤\uFE0F', 2],
    ['नि', 1],
    ['\u200D', 0],
  ])('of %j is %i', (text, width) => {
    expect(textWidth(text)).toBe(width)
  })

  it('says where each character starts', () => {
    expect(glyphsOf('a😀b').map((glyph) => glyph.start)).toEqual([0, 1, 3])
  })
})

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

describe('quantities', () => {
  it.each([
    [0, '0 s'],
    [0.0421, '42 ms'],
    [1, '1 s'],
    [9.87, '9.9 s'],
    [59.4, '59 s'],
    [59.6, '1 min'],
    [61, '1 min 1 s'],
    [3599.6, '1 h'],
    [3600, '1 h'],
    [5400, '1 h 30 min'],
    [86_399, '1 d'],
    [100_000, '1 d 4 h'],
  ])('%d seconds are %s (CLI-9)', (seconds, text) => expect(durationText(seconds)).toBe(text))

  it.each([
    [0, '0'],
    [0.1 + 0.2, '0.3'],
    [-0.000695, '-0.000695'],
    [1e-7, '1.00e-7'],
    [123_456, '123500'],
    [1e12, '1.00e+12'],
  ])('%d is %s (CLI-14)', (value, text) => expect(numberText(value)).toBe(text))

  it.each([
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1 kB'],
    [219_511, '220 kB'],
    [1.5e9, '1.5 GB'],
    [2e16, '20000 TB'],
  ])('%d are %s (CLI-20)', (bytes, text) => expect(bytesText(bytes)).toBe(text))

  it('counts and money read as people write them (CLI-9)', () => {
    expect([countText(1, 'run'), countText(1200, 'run')]).toEqual(['1 run', '1,200 runs'])
    expect([usdText(0), usdText(0.0012), usdText(1.5)]).toEqual(['$0', '$0.0012', '$1.50'])
  })
})
