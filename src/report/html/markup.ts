// HTML that cannot be broken by what is put into it: every text is escaped, and control characters are shown. Titles, hypotheses,
// logs and diffs were written by models.
import { visibleText } from '../../kernel/index.ts'

/** Text that is HTML already. Made by `html` alone. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content = string | number | Markup | undefined | readonly Content[]

/** A template whose values are escaped; lists are joined, and `undefined` is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + rendered(values[i - 1]) + part))
}

/** For text between tags and in quoted attributes. Line breaks stay. */
function escapeText(text: string): string {
  return visibleText(text.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '  '), { newlines: true }).replaceAll(
    /[&<>"'`]/g,
    (char) => `&#${char.charCodeAt(0)};`,
  )
}

/** The beginning of a text that may be of any length. */
export function clipped(text: string, most: number): string {
  const characters = [...text.slice(0, 2 * most + 2)]
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`
}

function rendered(value: Content): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'object') return value.map(rendered).join('')
  return escapeText(String(value))
}
