import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visibleText } from './visible-text.ts'

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
