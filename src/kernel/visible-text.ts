// Text that others wrote, made safe to print: no escape sequence, no direction override, nothing that hides or moves
// what stands beside it. Nothing is removed; what would act is shown.

/** Shows control characters instead of sending them: ESC becomes `␛`, a right-to-left override `<U+202E>`. */
export function visibleText(text: string, { newlines = false }: { newlines?: boolean } = {}): string {
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
