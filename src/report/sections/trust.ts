// How far the numbers can be trusted: noise, luck, confirmations, test evaluations, what a gain that holds has cost, and what the scorer
// measures beside the score.
import { countText, durationText, numberText, usdText } from '../../kernel/index.ts'
import { claimOf } from '../../research/index.ts'
import { type Column, type Content, clipped, dataTable, html, type Markup, present } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { ReportContext } from './report-context.ts'

export function trust(context: ReportContext): Section {
  return {
    id: 'trust',
    title: 'How far to trust this',
    short: 'Trust',
    body: html`<div class="columns"><div>${noise(context)}</div><div>${luck(context)}</div></div>
${confirmations(context)}${tradeOffTable(context)}${otherMetrics(context)}`,
  }
}

function noise({ figures, words }: ReportContext): Content {
  const { seedSd, sigma, jitterSd, visible } = figures.noise
  const facts = (
    [
      [seedSd, (by) => html`<li>Another seed moves the score by ${by} (standard deviation).</li>`],
      [jitterSd, (by) => html`<li>The same seed again moves it by ${by}.</li>`],
      [sigma, (by) => html`<li>The difference of two candidates on a shared seed moves by ${by}.</li>`],
    ] as readonly [number | undefined, (by: Markup) => Markup][]
  ).flatMap(([size, sentence]) => (size === undefined ? [] : [sentence(html`<b>${words.noise(size)}</b>`)]))
  if (facts.length === 0) {
    return html`<h3>Noise</h3><p>Nothing was measured twice, so no one knows how much of any gain is luck. Run the baseline on more seeds first.</p>`
  }
  const columns: Column<(typeof visible)[number]>[] = [
    { title: 'shared seeds', cell: ({ seeds }) => String(seeds) },
    { title: 'smallest visible gain', kind: 'n', cell: ({ gain }) => words.noise(gain) },
  ]
  const table = dataTable(visible, columns, { caption: 'What so many seeds show in four of five cases' })
  return html`<h3>Noise</h3><ul class="plain">${facts}</ul>${visible.length === 0 ? undefined : table}`
}

function luck({ input, figures, words }: ReportContext): Content {
  const { kept, expectedFalse, rawGain, shrunkenGain, spending } = figures
  const within = kept.filter(({ withinNoise }) => withinNoise).length
  const facts = present<Content>(
    shrunkenGain === undefined
      ? undefined
      : html`From the baseline to the best, <span class="raw">${words.gain(rawGain)}</span> was measured; <b>${words.gain(shrunkenGain)}</b> is the shrunken gain.`,
    expectedFalse === undefined
      ? undefined
      : html`About <b>${expectedFalse.toFixed(1)}</b> of ${countText(kept.length, 'keep')} ${expectedFalse.toFixed(1) === '1.0' ? 'is' : 'are'} expected to help nothing.`,
    within > 0 ? html`${countText(within, 'keep')} gained less than the noise of one difference.` : undefined,
    costPerGain(spending),
    testEvaluationsText(input),
  )
  return html`<h3>Luck and cost</h3><ul class="plain">${facts.map((fact) => html`<li>${fact}</li>`)}</ul>`
}

function costPerGain({ confirmed, totalUsd, totalSeconds, unknownUsd }: ReportContext['figures']['spending']): Content {
  if (confirmed === 0) return 'No gain is confirmed yet, so there is no cost per confirmed gain.'
  const isFree = totalUsd === undefined || (totalUsd === 0 && totalSeconds !== undefined)
  const parts = present(
    isFree ? undefined : usdText(totalUsd / confirmed),
    totalSeconds === undefined ? undefined : `${durationText(totalSeconds / confirmed)} of runs`,
  )
  if (parts.length === 0) return 'What a confirmed gain cost is not known: no cost was recorded.'
  const unknown =
    totalUsd === undefined || unknownUsd === 0
      ? ''
      : ` (the cost of ${countText(unknownUsd, 'attempt')} is unknown and not in it)`
  return html`A confirmed gain cost <b>${parts.join(' and ')}</b>${unknown}.`
}

function testEvaluationsText({ testEvaluations: tests, session }: ReportContext['input']): string {
  if (session.claimedOnly === true) return 'The log says nothing of a hidden split.'
  if (tests === undefined || tests.used === 0) return 'There was no test evaluation.'
  const allowed = tests.allowed === undefined ? '' : ` of ${tests.allowed} allowed`
  const were = tests.used === 1 ? 'was' : 'were'
  return `There ${were} ${countText(tests.used, 'test evaluation')}${allowed}; each spends some of what the hidden split is for.`
}

function confirmations({ input, figures, words }: ReportContext): Content {
  const rows = input.confirmations ?? []
  if (rows.length === 0) {
    const hope = figures.kept.length === 0 ? '' : ' What was kept is provisional: better in its race, and no more.'
    return html`<h3>Confirmations</h3><p>None was made.${hope}</p>`
  }
  const titles = new Map(input.attempts.map(({ attempt }) => [attempt.id, attempt]))
  return html`<h3>Confirmations</h3>${dataTable(rows, [
    {
      title: 'candidate',
      kind: 'words',
      cell: ({ attempt }) => {
        const found = titles.get(attempt)
        return found === undefined ? clipped(attempt, 60) : `${found.number} ${clipped(found.title, 120)}`
      },
    },
    { title: 'gain over the baseline', kind: 'n', cell: ({ gain }) => html`<b>${words.gain(gain)}</b>` },
    {
      title: 'shrunken',
      kind: 'n',
      cell: ({ shrunken }) => (shrunken === undefined ? '–' : words.gain(shrunken)),
    },
    {
      title: 'interval',
      kind: 'n',
      cell: ({ interval, confidence = 0.9 }) =>
        interval === undefined ? '–' : `${words.range(interval)} (${Math.round(100 * confidence)} %)`,
    },
    { title: 'fresh seeds', kind: 'n', cell: ({ seeds }) => (seeds === undefined ? '–' : String(seeds)) },
    { title: 'items', kind: 'n', cell: ({ items }) => itemsText(items) },
    {
      title: 'by luck',
      kind: 'n',
      cell: ({ p }) => (p === undefined ? '–' : p < 0.001 ? 'under 0.1 %' : `${Number((100 * p).toPrecision(2))} %`),
    },
    { title: 'split', cell: ({ split }) => (split === 'test' ? 'hidden' : 'validation') },
    {
      title: 'came out',
      cell: ({ passed: confirmed, better = confirmed }) =>
        html`<span class="outcome ${confirmed ? 'confirmed' : better ? 'provisional' : 'discarded'}">${claimOf({ confirmed, better })}</span>`,
    },
  ])}`
}

function itemsText(items: number | 'fresh' | undefined): string {
  if (items === undefined) return 'not covered'
  return items === 'fresh' ? 'new by seed' : String(items)
}

/** Candidates that no other beats by all metrics, and the best: what quality costs. */
function tradeOffTable({ input: { tradeOffs, attempts } }: ReportContext): Content {
  if (tradeOffs === undefined) return undefined
  const numbers = new Map(attempts.map(({ attempt }) => [attempt.id, attempt.number]))
  const rows = tradeOffs.candidates.filter(({ isOnFront, isBest }) => isOnFront || isBest)
  const columns: Column<(typeof rows)[number]>[] = tradeOffs.metrics.map(
    ({ metric, role, direction, tolerance }, i) => ({
      title: `${metric}, ${direction === 'min' ? 'lower' : 'higher'} is better${role === 'objective' ? '' : `, ${role}${tolerance === undefined ? '' : ` at ${numberText(100 * tolerance)} %`}`}`,
      kind: 'n' as const,
      cell: ({ values }) => valueText(values[i] ?? undefined),
    }),
  )
  const beaten = tradeOffs.candidates.length - rows.length
  return html`<h3>Trade-offs</h3><p class="muted">Of these, no other is at least as good by all and better by one (Pareto); ${countText(beaten, 'other candidate')} ${beaten === 1 ? 'is' : 'are'} beaten. Means over seeds on validation.</p>${dataTable(
    rows,
    [
      {
        title: 'candidate',
        kind: 'words',
        cell: ({ attempt, title, isBest }) =>
          html`<a href="#a${numbers.get(attempt) ?? 0}">${attempt}</a> ${clipped(title, 120)}${isBest ? html` <b>best</b>` : undefined}`,
      },
      ...columns,
      { title: 'seeds', kind: 'n', cell: ({ n }) => String(n) },
    ],
  )}`
}

/** The first are shown. */
const mostRows = 20

/** What the scorer measures beside the score, and the memory of runs: the best against the baseline. */
function otherMetrics({ input, figures }: ReportContext): Content {
  const before = figures.baseline?.reported.extra ?? {}
  const after = figures.champion?.reported.extra
  const names = Object.keys(before).slice(0, mostRows)
  if (names.length === 0) return undefined
  const guards = new Map((input.task.secondary ?? []).map((guard) => [guard.metric, guard]))
  return html`<h3>Other metrics</h3>${dataTable(names, [
    { title: 'metric', cell: (name) => clipped(name, 60) },
    { title: 'baseline', kind: 'n', cell: (name) => valueText(before[name]) },
    { title: 'best', kind: 'n', cell: (name) => valueText(after?.[name]) },
    { title: 'change', kind: 'n', cell: (name) => changeText(before[name], after?.[name]) },
    {
      title: 'may get worse by',
      kind: 'n',
      cell: (name) => {
        const guard = guards.get(name)
        return guard === undefined
          ? 'watched only'
          : `${numberText(100 * guard.tolerance)} % (${guard.direction === 'min' ? 'lower' : 'higher'} is better)`
      },
    },
  ])}`
}

function valueText(value: number | undefined): string {
  return value === undefined ? '–' : numberText(value)
}

function changeText(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined || before === 0) return '–'
  const percent = (100 * (after - before)) / Math.abs(before)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0)} %`
}
