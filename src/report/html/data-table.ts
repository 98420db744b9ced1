// Tables: numbers to the right, words to the left, a heading for every column.
import { type Content, html, type Markup } from './markup.ts'

export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => Content
  /** `n`: a number. `words`: text that may be long. `wide`: a bar. */
  readonly kind?: 'n' | 'words' | 'wide'
}

export function dataTable<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { caption, rowId }: { caption?: string; rowId?: (row: T) => string } = {},
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
