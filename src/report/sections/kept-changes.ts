// What was kept, with raw gains in grey and shrunken ones in bold: the second is what to expect of it.
import type { KeptChange } from '../figures/session-figures.ts'
import { type Column, clipped, dataTable, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { outcomeLabel, type ReportContext } from './report-context.ts'

/** The largest are shown where there are more. */
const mostRows = 100

export function keptChanges({ figures, words }: ReportContext): Section {
  const base = { id: 'kept', title: 'What was kept', short: 'Kept' }
  const { kept, prior } = figures
  if (kept.length === 0) return { ...base, body: html`<p>Nothing was kept.</p>` }
  const worth = ({ shrunk, raw }: KeptChange) => shrunk?.effect ?? raw ?? Number.NEGATIVE_INFINITY
  const rows = [...kept].sort((a, b) => worth(b) - worth(a)).slice(0, mostRows)
  // What was missed when it was left out has more to show than its race; so has what was confirmed, where it is all there is:
  // a test evaluation compares the best with the baseline.
  const lucky = kept.filter(
    ({ withinNoise, placed: { outcome, reported } }) =>
      withinNoise && !(outcome === 'confirmed' && kept.length === 1) && reported.ablation?.dropped !== false,
  ).length
  const remark =
    lucky === 0
      ? undefined
      : html`<p>${lucky} of ${kept.length} kept changes gained less than one paired difference moves by chance. ${lucky === 1 ? 'It' : 'They'} may be worth nothing, and may be left out without loss.</p>`
  const shrinking =
    prior === null
      ? html`<p class="muted">Fewer than three gains are known, so nothing says how much of them is luck.</p>`
      : html`<p>The raw gain of a change that was picked because it looked good is partly luck. The shrunken gain is corrected for that, by what all ${figures.placed.length - 1} attempts showed.</p>`
  const wasAblated = kept.some(({ placed }) => placed.reported.ablation !== undefined)
  const ablation: Column<KeptChange>[] = wasAblated
    ? [{ title: 'left out', kind: 'n', cell: ({ placed }) => ablationText(placed.reported.ablation, words) }]
    : []
  return {
    ...base,
    body: html`${shrinking}${remark}${dataTable(rows, [
      {
        title: 'change',
        kind: 'words',
        cell: ({ placed }) =>
          html`<a href="#a${placed.attempt.number}">${placed.attempt.number}</a> ${clipped(placed.attempt.title, 140)}`,
      },
      { title: 'verdict', cell: ({ placed }) => outcomeLabel(placed.outcome) },
      { title: 'raw gain', kind: 'n', cell: ({ raw }) => html`<span class="raw">${words.gain(raw)}</span>` },
      { title: 'shrunken', kind: 'n', cell: ({ shrunk }) => html`<b>${words.gain(shrunk?.effect)}</b>` },
      { title: '90 % interval of raw', kind: 'n', cell: ({ interval }) => words.range(interval) },
      { title: 'seeds', kind: 'n', cell: ({ seeds }) => String(seeds) },
      { title: 'chance of no help', kind: 'n', cell: ({ shrunk }) => chance(shrunk?.probabilityNotBetter) },
      ...ablation,
    ])}${kept.length > rows.length ? html`<p class="muted">${kept.length - rows.length} smaller ones are left out here.</p>` : undefined}`,
  }
}

function chance(probability: number | undefined): string {
  if (probability === undefined) return '–'
  if (probability < 0.01) return 'under 1 %'
  return `${Math.round(100 * probability)} %`
}

// What the score lost without it.
function ablationText(
  ablation: { effect?: number | undefined; dropped: boolean } | undefined,
  words: ReportContext['words'],
): string {
  if (ablation === undefined) return '–'
  const lost = ablation.effect === undefined ? '' : words.gain(0 - ablation.effect)
  return `${lost} ${ablation.dropped ? 'dropped' : 'stays'}`.trim()
}
