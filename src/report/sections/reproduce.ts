import { html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { ReportContext } from './report-context.ts'

/** How to get this again. */
export function reproduce({ input: { session, task } }: ReportContext): Section | undefined {
  if (session.reproduce === undefined && task.hash === undefined) return undefined
  return {
    id: 'reproduce',
    title: 'Reproduce',
    short: 'Reproduce',
    body: html`${session.reproduce === undefined ? undefined : html`<pre class="wrap"><code>${session.reproduce}</code></pre>`}
${task.hash === undefined ? undefined : html`<p class="muted">Scores compare only where scorer, API, data and settings are equal: <code>${task.hash.slice(0, 16)}</code></p>`}`,
  }
}
