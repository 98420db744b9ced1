// The end of a report: notes, how to reproduce it, and the table behind the charts.
import { durationText, usdText } from '../../kernel/index.ts'
import { PEAK_MEMORY } from '../../research/index.ts'
import { isKept, type PlacedAttempt } from '../figures/placed-attempt.ts'
import { timeText } from '../figures/value-text.ts'
import { type Column, clipped, dataTable, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { ReportedAttempt } from '../input/report-input.ts'
import { outcomeLabel, type ReportContext } from './report-context.ts'

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

/** Beyond this, attempts that were not kept are left out, the oldest first. */
const mostRows = 1_200

export function allAttempts({ figures, words, input }: ReportContext): Section {
  const { placed } = figures
  const over = placed.length - mostRows
  const dropped = new Set(
    over <= 0 ? [] : placed.filter((each) => !isKept(each) && each.outcome !== 'baseline').slice(0, over),
  )
  const rows = placed.filter((each) => !dropped.has(each))
  // A column where at least one attempt has its number.
  const known = (
    title: string,
    value: (attempt: ReportedAttempt) => number | undefined,
    text: (value: number) => string,
  ): Column<PlacedAttempt>[] => {
    const cell = ({ reported }: PlacedAttempt) => {
      const found = value(reported)
      return found === undefined ? '–' : text(found)
    }
    return input.attempts.some((each) => value(each) !== undefined) ? [{ title, kind: 'n', cell }] : []
  }
  const columns: readonly Column<PlacedAttempt>[] = [
    { title: '', kind: 'n', cell: ({ attempt }) => attempt.number },
    { title: 'change', kind: 'words', cell: ({ attempt }) => clipped(attempt.title, 140) },
    { title: 'category', cell: ({ attempt, outcome }) => (outcome === 'baseline' ? '' : attempt.category) },
    {
      title: 'verdict',
      cell: ({ outcome, attempt }) =>
        html`${outcomeLabel(outcome)}${attempt.failure === undefined ? undefined : html` ${attempt.failure.class}`}`,
    },
    { title: input.task.metric, kind: 'n', cell: ({ score }) => words.score(score) },
    {
      title: 'gain',
      kind: 'n',
      cell: ({ attempt }) => html`<span class="raw">${words.gain(attempt.gain?.mean)}</span>`,
    },
    { title: 'seeds', kind: 'n', cell: ({ attempt }) => attempt.scores.length },
    ...known('cost', ({ costUsd }) => costUsd, usdText),
    ...known('time', ({ wallS }) => wallS, durationText),
    ...known(
      'GB',
      ({ extra }) => extra?.[PEAK_MEMORY],
      (gigabytes) => gigabytes.toFixed(2),
    ),
  ]
  return {
    id: 'attempts',
    title: 'All attempts',
    short: 'All attempts',
    body: html`${dropped.size === 0 ? undefined : html`<p class="muted">${dropped.size} early attempts that were not kept are left out; the exported table has them.</p>`}${dataTable(rows, columns, { rowId: ({ attempt }) => `a${attempt.number}` })}`,
  }
}
