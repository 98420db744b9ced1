// The table behind the charts.
import { durationText, usdText } from '../../kernel/index.ts'
import { PEAK_MEMORY } from '../../research/index.ts'
import { isKept, type PlacedAttempt } from '../figures/placed-attempt.ts'
import { type Column, dataTable } from '../html/data-table.ts'
import { clipped, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { fateLabel } from './fate-label.ts'
import type { ReportContext } from './report-context.ts'

/** Beyond this, attempts that were not kept are left out, the oldest first. */
const mostRows = 1_200

export function allAttempts({ figures, words, input }: ReportContext): Section {
  const { placed } = figures
  const over = placed.length - mostRows
  const dropped = new Set(
    over <= 0 ? [] : placed.filter((each) => !isKept(each) && each.fate !== 'baseline').slice(0, over),
  )
  const rows = placed.filter((each) => !dropped.has(each))
  const knows = (key: 'costUsd' | 'wallS') => input.attempts.some((each) => each[key] !== undefined)
  const columns: readonly Column<PlacedAttempt>[] = [
    { title: '', kind: 'n', cell: ({ attempt }) => attempt.number },
    { title: 'change', kind: 'words', cell: ({ attempt }) => clipped(attempt.title, 140) },
    { title: 'category', cell: ({ attempt, fate }) => (fate === 'baseline' ? '' : attempt.category) },
    {
      title: 'verdict',
      cell: ({ fate, attempt }) =>
        html`${fateLabel(fate)}${attempt.failure === undefined ? undefined : html` ${attempt.failure.class}`}`,
    },
    { title: input.task.metric, kind: 'n', cell: ({ score }) => words.score(score) },
    {
      title: 'gain',
      kind: 'n',
      cell: ({ attempt }) => html`<span class="raw">${words.gain(attempt.gain?.mean)}</span>`,
    },
    { title: 'seeds', kind: 'n', cell: ({ attempt }) => attempt.scores.length },
    ...(knows('costUsd')
      ? [
          {
            title: 'cost',
            kind: 'n' as const,
            cell: ({ reported: { costUsd } }: PlacedAttempt) => (costUsd === undefined ? '–' : usdText(costUsd)),
          },
        ]
      : []),
    ...(knows('wallS')
      ? [
          {
            title: 'time',
            kind: 'n' as const,
            cell: ({ reported: { wallS } }: PlacedAttempt) => (wallS === undefined ? '–' : durationText(wallS)),
          },
        ]
      : []),
    ...(input.attempts.some(({ extra }) => extra?.[PEAK_MEMORY] !== undefined)
      ? [
          {
            title: 'GB',
            kind: 'n' as const,
            cell: ({ reported: { extra } }: PlacedAttempt) => memoryText(extra?.[PEAK_MEMORY]),
          },
        ]
      : []),
  ]
  return {
    id: 'attempts',
    title: 'All attempts',
    short: 'All attempts',
    body: html`${dropped.size === 0 ? undefined : html`<p class="muted">${dropped.size} early attempts that were not kept are left out; the exported table has them.</p>`}${dataTable(rows, columns, { rowId: ({ attempt }) => `a${attempt.number}` })}`,
  }
}

function memoryText(gigabytes: number | undefined): string {
  return gigabytes === undefined ? '–' : gigabytes.toFixed(2)
}
