// A unified diff to read: added, removed and unchanged lines told apart by their sign, their colour and their element.
import { clipped, html, type Markup } from '../html/markup.ts'

const mostLines = 240
const mostColumns = 300

export function diffMarkup(diff: string): Markup {
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const shown = lines.slice(0, mostLines).map(lineMarkup)
  const rest = lines.length - shown.length
  const more =
    rest > 0 ? html`<p class="muted">${rest} more lines are left out here; the exported patch has them.</p>` : undefined
  return html`<pre class="diff" tabindex="0" aria-label="Unified diff"><code>${shown}</code></pre>${more}`
}

/** Lines that a diff adds and takes away. */
export function diffSize(diff: string): { added: number; removed: number } {
  const lines = diff.split('\n')
  return {
    added: lines.filter((line) => line.startsWith('+') && !line.startsWith('+++ ')).length,
    removed: lines.filter((line) => line.startsWith('-') && !line.startsWith('--- ')).length,
  }
}

function lineMarkup(line: string): Markup {
  const text = `${clipped(line, mostColumns)}\n`
  if (/^(?:diff --git|---|\+\+\+|new file|deleted file|index) /.test(line))
    return html`<span class="file">${text}</span>`
  if (line.startsWith('@@')) return html`<span class="hunk">${text}</span>`
  if (line.startsWith('+')) return html`<ins>${text}</ins>`
  if (line.startsWith('-')) return html`<del>${text}</del>`
  return html`${text}`
}
