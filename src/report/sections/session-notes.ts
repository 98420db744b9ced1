import { clipped, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { timeText } from '../words/time-text.ts'
import type { ReportContext } from './report-context.ts'

/** The newest are shown. */
const mostNotes = 60

/** What people and the program itself remarked along the way. */
export function sessionNotes({ input: { notes = [] } }: ReportContext): Section | undefined {
  if (notes.length === 0) return undefined
  const shown = notes.slice(-mostNotes)
  const left = notes.length - shown.length
  return {
    id: 'notes',
    title: 'Notes',
    short: 'Notes',
    body: html`${left === 0 ? undefined : html`<p class="muted">${left} earlier ones are left out.</p>`}<ul class="plain">${shown.map(
      ({ at, author, text }) =>
        html`<li>${clipped(text, 500)}${at === undefined && author === undefined ? undefined : html` <span class="muted">(${[author, at === undefined ? undefined : timeText(at)].filter((part) => part !== undefined).join(', ')})</span>`}</li>`,
    )}</ul>`,
  }
}
