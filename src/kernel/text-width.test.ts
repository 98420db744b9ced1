import { describe, expect, it } from 'vitest'
import { glyphsOf, textWidth } from './text-width.ts'

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
