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

export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => Content
  /** `n`: a number. `words`: text that may be long. `wide`: a bar. */
  readonly kind?: 'n' | 'words' | 'wide' | undefined
}

/** A table: numbers to the right, words to the left, a heading for every column. */
export function dataTable<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { caption, rowId }: { caption?: string | undefined; rowId?: ((row: T) => string) | undefined } = {},
): Markup {
  const kindOf = ({ kind }: Column<T>) => (kind === undefined ? undefined : html` class="${kind}"`)
  const head = columns.map((column) => html`<th scope="col"${kindOf(column)}>${column.title}</th>`)
  const body = rows.map((row) => {
    const id = rowId === undefined ? undefined : html` id="${rowId(row)}"`
    return html`<tr${id}>${columns.map((column) => html`<td${kindOf(column)}>${column.cell(row)}</td>`)}</tr>
`
  })
  return html`<div class="scroll" tabindex="0"><table>${caption === undefined ? undefined : html`<caption>${caption}</caption>`}<thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>`
}

/** Names and values in a line; those without a value are left out. */
export function factLine(facts: readonly (readonly [name: string, value: string | undefined])[]): Markup {
  const known = facts.filter(([, value]) => value !== undefined)
  return html`<p class="facts">${known.map(([name, value]) => html`<span>${name}: <b>${value}</b></span> `)}</p>`
}

/** A number to see at once, with its name above and more about it below. */
export function tile(name: string, value: Content, more: Content): Markup {
  return html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What is there: a list whose parts may be missing. */
export function present<T>(...parts: readonly (T | undefined)[]): T[] {
  return parts.filter((part) => part !== undefined)
}
