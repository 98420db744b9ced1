// What did not work: nobody should try it again without a reason.
import { groupFigures } from '../figures/group-figures.ts'
import { dataTable } from '../html/data-table.ts'
import { type Content, clipped, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { fateLabel } from './fate-label.ts'
import type { ReportContext } from './report-context.ts'

const mostWorst = 8
const mostFamilies = 12
const mostNearMisses = 10

export function deadEnds(context: ReportContext): Section | undefined {
  const parts = [worst(context), families(context), nearMisses(context)].filter((part) => part !== undefined)
  if (parts.length === 0) return undefined
  return { id: 'dead-ends', title: 'What did not work', short: 'Did not work', body: parts }
}

function worst({ figures, words }: ReportContext): Content {
  const rows = figures.placed
    .filter(({ attempt, fate }) => fate === 'discarded' && attempt.gain !== undefined && attempt.gain.mean < 0)
    .sort((a, b) => (a.attempt.gain?.mean ?? 0) - (b.attempt.gain?.mean ?? 0))
    .slice(0, mostWorst)
  if (rows.length === 0) return undefined
  return html`<h3>It made things worse</h3>${dataTable(rows, [
    {
      title: 'change',
      kind: 'words',
      cell: ({ attempt }) => html`<a href="#a${attempt.number}">${attempt.number}</a> ${clipped(attempt.title, 120)}`,
    },
    { title: 'family', cell: ({ attempt }) => clipped(attempt.family, 40) },
    {
      title: 'raw gain',
      kind: 'n',
      cell: ({ attempt }) => html`<span class="raw">${words.gain(attempt.gain?.mean)}</span>`,
    },
    { title: 'seeds', kind: 'n', cell: ({ attempt }) => String(attempt.gain?.n ?? 0) },
  ])}`
}

function families({ figures }: ReportContext): Content {
  const dead = groupFigures(figures, ({ attempt }) => attempt.family)
    .filter(({ kept, nearMisses: near, attempts }) => kept === 0 && near === 0 && attempts.length >= 2)
    .sort((a, b) => b.attempts.length - a.attempts.length)
    .slice(0, mostFamilies)
  if (dead.length === 0) return undefined
  return html`<h3>Families with nothing kept</h3><ul class="plain">${dead.map(
    ({ name, attempts, failed }) =>
      html`<li><b>${clipped(name, 60)}</b>: ${attempts.length} tried${failed === 0 ? '' : `, ${failed} failed`}</li>`,
  )}</ul>`
}

function nearMisses({ figures, words }: ReportContext): Content {
  const rows = figures.placed
    .filter(({ fate }) => fate === 'inconclusive')
    .sort((a, b) => (b.attempt.gain?.mean ?? 0) - (a.attempt.gain?.mean ?? 0))
    .slice(0, mostNearMisses)
  if (rows.length === 0) return undefined
  return html`<h3>Undecided: near misses</h3><p class="muted">Neither better nor worse by what was run. More seeds would tell.</p>${dataTable(
    rows,
    [
      {
        title: 'change',
        kind: 'words',
        cell: ({ attempt }) => html`<a href="#a${attempt.number}">${attempt.number}</a> ${clipped(attempt.title, 120)}`,
      },
      { title: 'verdict', cell: ({ fate }) => fateLabel(fate) },
      {
        title: 'raw gain',
        kind: 'n',
        cell: ({ attempt }) => html`<span class="raw">${words.gain(attempt.gain?.mean)}</span>`,
      },
      { title: 'seeds', kind: 'n', cell: ({ attempt }) => String(attempt.gain?.n ?? attempt.scores.length) },
      { title: 'why', kind: 'words', cell: ({ attempt }) => clipped(attempt.reason ?? '', 160) },
    ],
  )}`
}
