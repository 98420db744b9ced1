// Text as people and terminals take it: safe to print, as wide as it is shown, no longer than is kept, quoted for a shell; and
// quantities in words. Text that others wrote loses nothing: what would act (escape sequences, direction overrides) is shown.

/** Shows control characters instead of sending them: ESC becomes `␛`, a right-to-left override `<U+202E>`. */
export function visibleText(text: string, { newlines = false }: { newlines?: boolean | undefined } = {}): string {
  return text.replace(acting, (char) => (newlines && char === '\n' ? char : shown(char)))
}

// Controls (C0, DEL, C1), format characters that reorder or hide text, line separators, lone surrogates. Zero-width
// joiners and variation selectors stay: emoji and several scripts are written with them.
const acting =
  /[\p{Cc}\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0001}\u{E0020}-\u{E007F}\p{Cs}]/gu

function shown(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code) // the block of control pictures
  if (code === 0x7f) return '\u2421'
  if (code >= 0xd800 && code <= 0xdfff) return '\uFFFD'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

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

/** Keeps the end of what is printed: that is where a program says why it failed. */
export function boundedText(maxBytes: number): { add(bytes: Uint8Array): void; text(): string } {
  let parts: Uint8Array[] = []
  let size = 0
  const compact = () => {
    const whole = Buffer.concat(parts)
    parts = [whole.subarray(Math.max(0, whole.length - maxBytes))]
    size = parts[0]?.length ?? 0
  }
  return {
    add(bytes) {
      parts.push(bytes)
      size += bytes.length
      if (size > 2 * maxBytes) compact()
    },
    text() {
      compact()
      return new TextDecoder().decode(parts[0])
    },
  }
}

/** A text as one word of a shell command, quoted where it must be. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

// Quantities as people read them: no more digits than are known, a unit that fits.
/** Four significant digits. */
export function numberText(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  return size >= 0.0001 && size < 1e9 ? String(Number(value.toPrecision(4))) : value.toExponential(2)
}

export function signedText(value: number): string {
  return value > 0 ? `+${numberText(value)}` : numberText(value)
}

export function rangeText([lower, upper]: readonly [number, number]): string {
  return `${numberText(lower)} to ${numberText(upper)}`
}

/** `0 s`, `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `1 d 3 h`. */
export function durationText(seconds: number): string {
  if (seconds === 0) return '0 s'
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return joined([Math.floor(whole / 60), 'min'], [whole % 60, 's'])
  const minutes = Math.round(whole / 60)
  if (minutes < 24 * 60) return joined([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min'])
  const hours = Math.round(minutes / 60)
  return joined([Math.floor(hours / 24), 'd'], [hours % 24, 'h'])
}

function joined(...parts: readonly (readonly [amount: number, unit: string])[]): string {
  return parts
    .filter(([amount], i) => i === 0 || amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** `912 bytes`, `4.2 MB`: powers of 1000, as disks count. */
export function bytesText(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'] as const
  if (bytes < 1000) return countText(bytes, 'byte')
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3))
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power - 1]}`
}

/** `1 run`, `3 runs`. */
export function countText(n: number, noun: string): string {
  return `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`
}

export function usdText(usd: number): string {
  return usd === 0 ? '$0' : usd < 0.01 ? `$${Number(usd.toPrecision(2))}` : `$${usd.toFixed(2)}`
}

/** How fast an engine computes. */
export function speedText(gflops: number): string {
  return `${gflops < 10 ? gflops.toFixed(1) : Math.round(gflops)} GFLOP/s`
}
