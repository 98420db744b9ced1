// The report of an experiment: hypothesis, verdict, arms with their seeds, the claim in numbers, all runs. In the look of the reports
// of research, and as self-contained.
import { countText, durationText, numberText, rangeText, signedText, usdText } from '../kernel/index.ts'
import { armChart } from './charts/arm-chart.ts'
import type { ExperimentReportInput } from './experiment-report-input.ts'
import { dataTable } from './html/data-table.ts'
import { type Content, clipped, html } from './html/markup.ts'
import { page, type Section } from './html/page.ts'
import { timeText } from './words/time-text.ts'

/** Runs that are listed. */
const mostRuns = 1_000

/** Writes the report of an experiment as HTML. */
export function experimentReport(input: ExperimentReportInput): string {
  const parts = [arms, claim, runs, words, again]
  return page({
    title: `Experiment: ${input.result.name}`,
    header: overview(input),
    sections: parts.flatMap((part) => part(input) ?? []),
    footer: html`Experiment ${input.result.experiment_id}. Made by evsys from the record alone; this file loads nothing and runs nothing.`,
  })
}

function overview({ result, evidence, hypothesis, createdAt, tags }: ExperimentReportInput): Content {
  const { objective, conclusion, cost_usd, wall_s, best_arm } = result
  const best = result.arms.find(({ name }) => name === best_arm)
  const facts = [
    ...(objective === null
      ? []
      : [['objective', `${objective.metric}, ${objective.direction === 'min' ? 'lower' : 'higher'} is better`]]),
    ['made', timeText(createdAt)],
    ...(tags.length === 0 ? [] : [['tags', tags.join(', ')]]),
  ]
  const tile = (name: string, value: Content, more: Content) =>
    html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`
  return html`<p class="kicker">Experiment</p>
<h1>${result.name}</h1>
<p class="facts">${facts.map(([name, value]) => html`<span>${name}: <b>${value}</b></span> `)}</p>
<p>${hypothesis === undefined ? html`<span class="muted">No hypothesis was given.</span>` : clipped(hypothesis, 2000)}</p>
<p class="lead">${conclusion === null ? 'It has no conclusion yet.' : html`<b>${conclusion.verdict}.</b> ${clipped(conclusion.text, 3000)}`}</p>
<dl class="tiles">${[
    tile(
      'best arm',
      best?.score == null ? '–' : numberText(best.score.mean),
      clipped(best_arm ?? 'none has a score', 80),
    ),
    ...(evidence.claim === null
      ? []
      : [
          tile(
            'effect',
            signedText(evidence.claim.overall.effect),
            evidence.claim.overall.interval === null
              ? 'no interval'
              : `90 % interval ${rangeText(evidence.claim.overall.interval)}`,
          ),
        ]),
    tile('runs', String(evidence.n_runs), `${evidence.n_completed} completed, ${evidence.n_invalid} taken out`),
    tile('took', durationText(wall_s), cost_usd === null ? 'cost unknown' : usdText(cost_usd)),
    tile('looks at test', String(evidence.n_test_looks), 'in the loop'),
  ]}</dl>`
}

function arms({ evidence, result }: ExperimentReportInput): Section {
  const chart = armChart(evidence.arms)
  const table = dataTable(evidence.arms, [
    { title: 'arm', kind: 'words', cell: ({ name }) => (name === result.best_arm ? html`<b>${name}</b>` : name) },
    { title: 'mean', kind: 'n', cell: ({ score }) => html`<b>${score === null ? '–' : numberText(score.mean)}</b>` },
    { title: 'interval', kind: 'n', cell: ({ score }) => (score?.ci == null ? '–' : rangeText(score.ci)) },
    { title: 'seeds', kind: 'n', cell: ({ by_seed }) => String(by_seed.length) },
    { title: 'failed', kind: 'n', cell: ({ n_failed }) => String(n_failed) },
    { title: 'why', kind: 'words', cell: ({ error }) => (error === undefined ? '' : clipped(error.message, 200)) },
  ])
  const caption = html`<figcaption>A dot is one seed, the line the interval of the mean.</figcaption>`
  return {
    id: 'arms',
    title: 'Arms',
    short: 'Arms',
    body: html`${chart === undefined ? undefined : html`<figure>${chart}${caption}</figure>`}${table}`,
  }
}

function claim({ evidence }: ExperimentReportInput): Section | undefined {
  if (evidence.claim === null) return undefined
  const { pairs, overall, min_effect, benchmark, metric } = evidence.claim
  return {
    id: 'claim',
    title: 'Claim',
    short: 'Claim',
    body: html`<p>On ${benchmark}.${metric}, an effect above ${numberText(min_effect)} counts.</p>${dataTable(
      pairs.length === 0 ? [overall] : pairs,
      [
        { title: 'treatment', kind: 'words', cell: ({ treatment }) => treatment },
        { title: 'baseline', kind: 'words', cell: ({ baseline }) => baseline },
        { title: 'effect', kind: 'n', cell: ({ effect }) => html`<b>${signedText(effect)}</b>` },
        { title: 'interval', kind: 'n', cell: ({ interval }) => (interval === null ? '–' : rangeText(interval)) },
        { title: 'seeds', kind: 'n', cell: ({ n_seeds }) => String(n_seeds) },
        { title: 'verdict', cell: ({ verdict }) => verdict },
        {
          title: 'seeds still needed',
          kind: 'n',
          cell: ({ seeds_still_needed }) => (seeds_still_needed === null ? '–' : String(seeds_still_needed)),
        },
      ],
    )}`,
  }
}

function runs({ runs: all, evidence }: ExperimentReportInput): Section {
  const scores = new Map(
    evidence.arms.flatMap(({ name, by_seed }) => by_seed.map(({ seed, value }) => [`${name} ${seed}`, value] as const)),
  )
  const shown = all.slice(0, mostRuns)
  const table = dataTable(shown, [
    { title: 'run', kind: 'words', cell: ({ name }) => name },
    { title: 'seed', kind: 'n', cell: ({ seed }) => String(seed) },
    { title: 'status', cell: ({ status, invalid }) => (invalid === undefined ? status : 'taken out') },
    { title: 'score', kind: 'n', cell: ({ arm, seed }) => scoreText(scores.get(`${arm} ${seed}`)) },
    { title: 'time', kind: 'n', cell: ({ wallS }) => (wallS === undefined ? '–' : durationText(wallS)) },
    { title: 'remark', kind: 'words', cell: ({ error, invalid }) => clipped(invalid ?? error?.message ?? '', 200) },
  ])
  const rest = all.length - shown.length
  return {
    id: 'runs',
    title: 'Runs',
    short: 'Runs',
    body: html`${table}${rest === 0 ? undefined : html`<p class="muted">${countText(rest, 'more run')} are in the record.</p>`}`,
  }
}

function words({ words: said }: ExperimentReportInput): Section | undefined {
  if (said.length === 0) return undefined
  const list = said.map(
    ({ at, author, text }) =>
      html`<li>${clipped(text, 2000)} <span class="muted">(${author}, ${timeText(at)})</span></li>`,
  )
  return { id: 'words', title: 'What authors say', short: 'Words', body: html`<ul class="plain">${list}</ul>` }
}

function again({ result }: ExperimentReportInput): Section {
  return {
    id: 'reproduce',
    title: 'Reproduce',
    short: 'Reproduce',
    body: html`<pre class="wrap"><code>evsys repro ${result.experiment_id} -o again.yaml &amp;&amp; evsys run again.yaml</code></pre>`,
  }
}

function scoreText(value: number | undefined): string {
  return value === undefined ? '–' : numberText(value)
}
