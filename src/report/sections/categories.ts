import { stackedBar } from '../charts/stacked-bar.ts'
import type { GroupFigures } from '../figures/group-figures.ts'
import { insightsOf } from '../figures/insights.ts'
import { dataTable } from '../html/data-table.ts'
import { html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { ReportContext } from './report-context.ts'

/** What kinds of change were tried, what became of them, and what they teach. */
export function categories({ figures, words }: ReportContext): Section | undefined {
  const insights = insightsOf(figures, words)
  if (insights.length === 0) return undefined
  const groups = insights.map(({ category }) => category)
  const most = Math.max(...groups.map(({ attempts }) => attempts.length))
  const table = dataTable(groups, [
    { title: 'category', cell: ({ name }) => name },
    { title: 'what became of them', kind: 'wide', cell: (group) => stackedBar(partsOf(group), most) },
    { title: 'tried', kind: 'n', cell: ({ attempts }) => String(attempts.length) },
    { title: 'kept', kind: 'n', cell: ({ kept }) => String(kept) },
    { title: 'near misses', kind: 'n', cell: ({ nearMisses }) => String(nearMisses) },
    { title: 'discarded', kind: 'n', cell: ({ discarded }) => String(discarded) },
    { title: 'failed', kind: 'n', cell: ({ failed }) => String(failed) },
    { title: 'gained', kind: 'n', cell: ({ kept, gain }) => html`<b>${kept === 0 ? '–' : words.gain(gain)}</b>` },
  ])
  return {
    id: 'categories',
    title: 'What kinds of change helped',
    short: 'Categories',
    body: html`${table}<p class="muted">Gains are shrunken and of kept changes alone.</p>
${insights.map(({ category, sentences }) => html`<h3>${capital(category.name)}</h3><ul class="plain">${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>`)}`,
  }
}

function partsOf({ kept, confirmed, nearMisses, discarded, failed, attempts }: GroupFigures) {
  const rest = attempts.length - kept - nearMisses - discarded - failed
  return [
    { kind: 'confirmed', size: confirmed },
    { kind: 'provisional', size: kept - confirmed },
    { kind: 'inconclusive', size: nearMisses },
    { kind: 'discarded', size: discarded },
    { kind: 'failed', size: failed },
    { kind: 'running', size: rest },
  ].filter(({ size }) => size > 0)
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
