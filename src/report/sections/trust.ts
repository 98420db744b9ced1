// How far the numbers can be trusted: noise, luck, confirmations, looks, and what a gain that holds has cost.
import { countText, durationText, usdText } from '../../kernel/index.ts'
import { dataTable } from '../html/data-table.ts'
import { type Content, clipped, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { otherMetrics } from './other-metrics.ts'
import type { ReportContext } from './report-context.ts'

export function trust(context: ReportContext): Section {
  return {
    id: 'trust',
    title: 'How far to trust this',
    short: 'Trust',
    body: html`<div class="columns"><div>${noise(context)}</div><div>${luck(context)}</div></div>
${confirmations(context)}${otherMetrics(context)}`,
  }
}

function noise({ figures, words }: ReportContext): Content {
  const { seedSd, sigma, jitterSd, visible } = figures.noise
  const facts = [
    ...(seedSd === undefined
      ? []
      : [html`<li>Another seed moves the score by <b>${words.noise(seedSd)}</b> (standard deviation).</li>`]),
    ...(jitterSd === undefined
      ? []
      : [html`<li>The same seed again moves it by <b>${words.noise(jitterSd)}</b>.</li>`]),
    ...(sigma === undefined
      ? []
      : [html`<li>The difference of two candidates on a shared seed moves by <b>${words.noise(sigma)}</b>.</li>`]),
  ]
  if (facts.length === 0) {
    return html`<h3>Noise</h3><p>Nothing was measured twice, so nobody knows how much of any gain is luck. Run the baseline on more seeds first.</p>`
  }
  const table =
    visible.length === 0
      ? undefined
      : dataTable(
          visible,
          [
            { title: 'shared seeds', cell: ({ seeds }) => String(seeds) },
            { title: 'smallest visible gain', kind: 'n', cell: ({ gain }) => words.noise(gain) },
          ],
          { caption: 'What so many seeds show in four of five cases' },
        )
  return html`<h3>Noise</h3><ul class="plain">${facts}</ul>${table}`
}

function luck({ input, figures, words }: ReportContext): Content {
  const { kept, expectedFalse, rawGain, shrunkenGain, spending } = figures
  const within = kept.filter(({ withinNoise }) => withinNoise).length
  const facts: Content[] = []
  if (shrunkenGain !== undefined) {
    facts.push(
      html`<li>From the baseline to the best, <span class="raw">${words.gain(rawGain)}</span> was measured; <b>${words.gain(shrunkenGain)}</b> is left when luck is taken back.</li>`,
    )
  }
  if (expectedFalse !== undefined) {
    facts.push(
      html`<li>About <b>${expectedFalse.toFixed(1)}</b> of ${countText(kept.length, 'keep')} ${expectedFalse.toFixed(1) === '1.0' ? 'is' : 'are'} expected to help nothing.</li>`,
    )
  }
  if (within > 0) facts.push(html`<li>${countText(within, 'keep')} gained less than the noise of one difference.</li>`)
  facts.push(html`<li>${costPerGain(spending)}</li>`)
  facts.push(html`<li>${looksText(input)}</li>`)
  return html`<h3>Luck and cost</h3><ul class="plain">${facts}</ul>`
}

function costPerGain({ confirmed, totalUsd, totalSeconds, unknownUsd }: ReportContext['figures']['spending']): Content {
  if (confirmed === 0) return 'No gain is confirmed yet, so there is no cost per confirmed gain.'
  const parts = [
    ...(totalUsd === undefined || (totalUsd === 0 && totalSeconds !== undefined)
      ? []
      : [usdText(totalUsd / confirmed)]),
    ...(totalSeconds === undefined ? [] : [`${durationText(totalSeconds / confirmed)} of runs`]),
  ]
  if (parts.length === 0) return 'What a confirmed gain cost is not known: no cost was recorded.'
  const unknown =
    totalUsd === undefined || unknownUsd === 0
      ? ''
      : ` (the cost of ${countText(unknownUsd, 'attempt')} is unknown and not in it)`
  return html`A confirmed gain cost <b>${parts.join(' and ')}</b>${unknown}.`
}

function looksText({ looks, session }: ReportContext['input']): string {
  if (session.claimedOnly === true) return 'The log says nothing of a hidden split.'
  if (looks === undefined || looks.used === 0) return 'The hidden split was never looked at.'
  const allowed = looks.allowed === undefined ? '' : ` of ${looks.allowed} allowed`
  return `The hidden split was looked at ${looks.used === 1 ? 'once' : `${looks.used} times`}${allowed}; every look spends some of what it is for.`
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
      title: 'interval',
      kind: 'n',
      cell: ({ interval, confidence = 0.9 }) =>
        interval === undefined ? '–' : `${words.range(interval)} (${Math.round(100 * confidence)} %)`,
    },
    { title: 'fresh seeds', kind: 'n', cell: ({ seeds }) => (seeds === undefined ? '–' : String(seeds)) },
    {
      title: 'by luck',
      kind: 'n',
      cell: ({ p }) => (p === undefined ? '–' : p < 0.001 ? 'under 0.1 %' : `${Number((100 * p).toPrecision(2))} %`),
    },
    { title: 'split', cell: ({ split }) => (split === 'test' ? 'hidden' : 'validation') },
    {
      title: 'came out',
      cell: ({ passed }) =>
        passed
          ? html`<span class="fate confirmed">confirmed</span>`
          : html`<span class="fate discarded">not confirmed</span>`,
    },
  ])}`
}
