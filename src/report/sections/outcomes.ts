// What helped, what did not work and what failed: attempts by category, dead ends and near misses, failures by class.
import { countText } from '../../kernel/index.ts'
import { type GroupFigures, groupFigures, insightsOf } from '../figures/group-figures.ts'
import { groupBy, type PlacedAttempt } from '../figures/placed-attempt.ts'
import { type Column, type Content, capital, clipped, dataTable, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { stackedBar } from '../html/plot.ts'
import { outcomeLabel, type ReportContext } from './report-context.ts'

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

const mostWorst = 8
const mostFamilies = 12
const mostNearMisses = 10

/** What did not work: not to be tried again without a reason. */
export function deadEnds(context: ReportContext): Section | undefined {
  const parts = [worst(context), families(context), nearMisses(context)].filter((part) => part !== undefined)
  if (parts.length === 0) return undefined
  return { id: 'dead-ends', title: 'What did not work', short: 'Did not work', body: parts }
}

const changeColumn: Column<PlacedAttempt> = {
  title: 'change',
  kind: 'words',
  cell: ({ attempt }) => html`<a href="#a${attempt.number}">${attempt.number}</a> ${clipped(attempt.title, 120)}`,
}

function rawGain(words: ReportContext['words']): Column<PlacedAttempt> {
  const cell = ({ attempt }: PlacedAttempt) => html`<span class="raw">${words.gain(attempt.gain?.mean)}</span>`
  return { title: 'raw gain', kind: 'n', cell }
}

function worst({ figures, words }: ReportContext): Content {
  const rows = figures.placed
    .filter(({ attempt, outcome }) => outcome === 'discarded' && attempt.gain !== undefined && attempt.gain.mean < 0)
    .sort((a, b) => (a.attempt.gain?.mean ?? 0) - (b.attempt.gain?.mean ?? 0))
    .slice(0, mostWorst)
  if (rows.length === 0) return undefined
  return html`<h3>It made things worse</h3>${dataTable(rows, [
    changeColumn,
    { title: 'family', cell: ({ attempt }) => clipped(attempt.family, 40) },
    rawGain(words),
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
    .filter(({ outcome }) => outcome === 'inconclusive')
    .sort((a, b) => (b.attempt.gain?.mean ?? 0) - (a.attempt.gain?.mean ?? 0))
    .slice(0, mostNearMisses)
  if (rows.length === 0) return undefined
  return html`<h3>Undecided: near misses</h3><p class="muted">Neither better nor worse by what was run. More seeds would tell.</p>${dataTable(
    rows,
    [
      changeColumn,
      { title: 'verdict', cell: ({ outcome }) => outcomeLabel(outcome) },
      rawGain(words),
      { title: 'seeds', kind: 'n', cell: ({ attempt }) => String(attempt.gain?.n ?? attempt.scores.length) },
      { title: 'why', kind: 'words', cell: ({ attempt }) => clipped(attempt.reason ?? '', 160) },
    ],
  )}`
}

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
  const failed = figures.placed.filter(({ outcome }) => outcome === 'failed')
  const tried = figures.placed.filter(({ outcome }) => outcome !== 'baseline').length
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
