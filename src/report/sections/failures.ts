import { countText } from '../../kernel/index.ts'
import { stackedBar } from '../charts/stacked-bar.ts'
import { groupBy } from '../figures/group-by.ts'
import type { PlacedAttempt } from '../figures/placed-attempt.ts'
import { dataTable } from '../html/data-table.ts'
import { type Content, clipped, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { ReportContext } from './report-context.ts'

/** Logs that are shown, of the newest failure of a class. */
const mostLog = 1_500

const meanings: Readonly<Record<string, string>> = {
  oom: 'ran out of memory',
  syntax: 'is no valid code',
  timeout: 'took longer than it may',
  divergence: 'its numbers left the finite ones',
  validation: 'was turned down before it ran',
  crash: 'ended with an error',
  tamper: 'tried to reach what decides the score',
  infra: 'the machine failed, not the candidate',
  unknown: 'no reason was recorded',
}

/** Why attempts have no score, by class, with an example of each. */
export function failures({ figures }: ReportContext): Section {
  const base = { id: 'failures', title: 'Failures', short: 'Failures' }
  const failed = figures.placed.filter(({ fate }) => fate === 'failed')
  const tried = figures.placed.filter(({ fate }) => fate !== 'baseline').length
  if (failed.length === 0) return { ...base, body: html`<p>No attempt failed.</p>` }
  const classes = [...groupBy(failed, ({ attempt }) => attempt.failure?.class ?? 'unknown')].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  const most = Math.max(...classes.map(([, each]) => each.length))
  const table = dataTable(classes, [
    { title: 'class', cell: ([name]) => html`<b>${name}</b>` },
    { title: 'how many', kind: 'wide', cell: ([, each]) => stackedBar([{ kind: 'failed', size: each.length }], most) },
    { title: 'n', kind: 'n', cell: ([, each]) => String(each.length) },
    { title: 'share', kind: 'n', cell: ([, each]) => `${Math.round((100 * each.length) / failed.length)} %` },
    { title: 'meaning', kind: 'words', cell: ([name]) => meanings[name] ?? '' },
  ])
  return {
    ...base,
    body: html`<p>${countText(failed.length, 'attempt')} of ${tried} ended without a score.</p>${table}${classes.map(([name, each]) => example(name, each))}`,
  }
}

function example(name: string, attempts: readonly PlacedAttempt[]): Content {
  const shown = attempts.findLast(({ attempt }) => attempt.failure !== undefined)
  if (shown?.attempt.failure === undefined) return undefined
  const { failure, number, title } = shown.attempt
  const log =
    failure.log === undefined || failure.log.trim() === ''
      ? undefined
      : html`<pre class="log">${ending(failure.log)}</pre>`
  return html`<details><summary>${name}: attempt ${number}, ${clipped(title, 90)}</summary><p>${clipped(failure.reason, 600)}</p>${log}</details>`
}

// The end of a log is where the reason stands.
function ending(log: string): string {
  const characters = [...log.slice(-2 * mostLog)]
  return characters.length <= mostLog ? characters.join('') : `…${characters.slice(-mostLog).join('')}`
}
