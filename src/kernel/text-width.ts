// How many terminal columns a text takes. An approximation of Unicode TR11 that is right for what people write in
// configuration files: CJK, emoji and combining marks; terminals disagree about the rest.

/** One character as a reader sees it: its text, where it starts (UTF-16 units), the columns it takes. */
export type Glyph = { text: string; start: number; width: 0 | 1 | 2 }

// Made when first needed: it loads Unicode tables, which most commands can do without.
let segmenter: Intl.Segmenter | undefined

/** Splits a text into what a reader sees as characters. */
export function glyphsOf(text: string): Glyph[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment, index }) => ({
    text: segment,
    start: index,
    width: glyphWidth(segment),
  }))
}

/** The columns that `text` takes in a terminal. */
export function textWidth(text: string): number {
  return glyphsOf(text).reduce((sum, glyph) => sum + glyph.width, 0)
}

// East Asian Wide and Fullwidth blocks, without the reserved gaps in between.
const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1F200}-\u{1F2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u
const emojiStyle = /\p{Emoji}\uFE0F/u
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u

function glyphWidth(glyph: string): 0 | 1 | 2 {
  if (wide.test(glyph) || emojiStyle.test(glyph)) return 2
  return invisible.test(glyph) ? 0 : 1
}
