// Arms against each other: the metric that ranks them, then every benchmark and metric with val beside test.
import type { ArmEvidence, BenchmarkScore, Evidence, ExperimentResult, Score } from '../../contracts/index.ts'
import { countText, numberText, rangeText } from '../../kernel/index.ts'
import { roughText } from '../../record/index.ts'
import { clipped, dataTable, html, type Markup } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { tickDecimals } from '../html/plot.ts'
import { type ArmStyles, armName, strip, stripScale } from './arm-styles.ts'

export interface Judged {
  readonly evidence: Evidence
  readonly result: ExperimentResult
  readonly styles: ArmStyles
}

/** Arms and scores that are listed. */
const mostArms = 200
const mostScores = 2_000

export function armsSection({ evidence, result, styles }: Judged): Section {
  const shown = evidence.arms.slice(0, mostArms)
  const x = stripScale(shown)
  const decimals = x === undefined ? 0 : tickDecimals(x)
  const ends = x === undefined ? '' : `${plain(x.low, decimals)} to ${plain(x.high, decimals)}`
  const hasFailed = shown.some(({ n_failed }) => n_failed > 0)
  const table = dataTable(shown, [
    { title: 'arm', kind: 'words', cell: ({ name }) => armName(styles, name, name === result.best_arm) },
    ...(x === undefined
      ? []
      : [{ title: ends, kind: 'wide', cell: (arm: ArmEvidence) => strip(arm, x, styles) } as const]),
    { title: 'mean', kind: 'n', cell: ({ score }) => html`<b>${score === null ? '–' : numberText(score.mean)}</b>` },
    {
      title: '90 % interval',
      kind: 'n',
      cell: ({ score }) => (score?.ci == null ? '–' : intervalText(score.ci, score.too_few)),
    },
    { title: 'seeds', kind: 'n', cell: ({ by_seed }) => String(by_seed.length) },
    ...(hasFailed
      ? ([
          { title: 'failed', kind: 'n', cell: ({ n_failed }: ArmEvidence) => (n_failed === 0 ? '' : String(n_failed)) },
          {
            title: 'why',
            kind: 'words',
            cell: ({ error }: ArmEvidence) => (error === undefined ? '' : clipped(error.message, 200)),
          },
        ] as const)
      : []),
  ])
  const rest = evidence.arms.length - shown.length
  const objective = result.objective === null ? undefined : html` by ${result.objective.metric}`
  return {
    id: 'arms',
    title: 'Arms',
    short: 'Arms',
    body: html`<p class="muted">Ranked${objective}. Rings are seeds, the bar is the 90 % interval of their mean on tasks like these, the tick is the mean.</p>${table}${rest === 0 ? undefined : html`<p class="muted">${countText(rest, 'more arm')} are in the record.</p>`}`,
  }
}

/** Rows are metrics and arms, columns are benchmarks: val and test stand side by side. */
export function scoresSection({ evidence, result, styles }: Judged): Section | undefined {
  const all = evidence.arms.flatMap(({ name, scores = [] }) => scores.map((each) => ({ arm: name, ...each })))
  if (all.length === 0) return undefined
  const benchmarks = [...new Map(all.map((each) => [each.benchmark, each.split]))]
  // What stands in a table of its own, class by class, is not listed again.
  const metrics = [...new Set(all.map(({ metric }) => metric))].filter((metric) => !/\/[^/]*:/.test(metric))
  const rows = metrics.flatMap((metric) =>
    evidence.arms.flatMap(({ name }, i) => {
      const own = all.filter((each) => each.metric === metric && each.arm === name)
      return own.length === 0 ? [] : [{ metric, arm: name, own, isFirst: i === 0 }]
    }),
  )
  const shown = rows.slice(0, mostScores)
  const cell = (score: BenchmarkScore | undefined) => {
    if (score === undefined) return '–'
    const interval =
      score.score.ci === null ? undefined : html`<small>${intervalText(score.score.ci, score.score.too_few)}</small>`
    const seeds =
      score.by_seed.length < 2
        ? undefined
        : html`<small>seeds ${score.by_seed.map(({ value }) => numberText(value)).join(', ')}</small>`
    return html`<b>${numberText(score.score.mean)}</b>${score.selects ? html` <span class="tag">selected</span>` : undefined}${interval}${seeds}`
  }
  const table = dataTable(shown, [
    {
      title: 'metric',
      cell: ({ metric, isFirst }) => (isFirst ? html`<b>${metric}</b>` : html`<span class="again">${metric}</span>`),
    },
    { title: 'arm', kind: 'words', cell: ({ arm }) => armName(styles, arm, arm === result.best_arm) },
    ...benchmarks.map(([benchmark, split]) => ({
      title: benchmark === split ? benchmark : `${benchmark} (${split})`,
      kind: 'n' as const,
      cell: ({ own }: (typeof shown)[number]) => cell(own.find((each) => each.benchmark === benchmark)),
    })),
  ])
  const rest = rows.length - shown.length
  return {
    id: 'scores',
    title: 'Scores on all benchmarks',
    short: 'Scores',
    body: html`<p class="muted">Of the checkpoint that was selected in each run, with 90 % intervals. What selected is marked: its score is that of a winner, the others are not.</p>${table}${rest <= 0 ? undefined : html`<p class="muted">${countText(rest, 'more row')} are in the record.</p>`}`,
  }
}

/** Other models on the same tasks. */
export function baselinesSection({ result: { baselines = [] } }: Judged): Section | undefined {
  const rows = baselines.flatMap(({ model, benchmark, metrics, intervals, cost_usd, error }) => {
    const scores = Object.entries(metrics).filter(([metric]) => !metric.includes('['))
    const of = { model, benchmark, cost_usd, error }
    const shown: [string, number | undefined][] = scores.length === 0 ? [['', undefined]] : scores
    return shown.map(([metric, value]) => ({ ...of, metric, value, interval: intervals?.[metric] }))
  })
  if (rows.length === 0) return undefined
  return {
    id: 'baselines',
    title: 'Other models on the same tasks',
    short: 'Baselines',
    body: html`<p class="muted">Scored for comparison; none is an arm and none was ranked.</p>${dataTable(
      rows.slice(0, mostScores),
      [
        { title: 'model', kind: 'words', cell: ({ model }) => clipped(model, 120) },
        { title: 'benchmark', cell: ({ benchmark }) => benchmark },
        { title: 'metric', cell: ({ metric }) => metric },
        {
          title: 'score',
          kind: 'n',
          cell: ({ value }) => html`<b>${value === undefined ? '–' : numberText(value)}</b>`,
        },
        { title: 'interval', kind: 'n', cell: ({ interval }) => (interval == null ? '–' : rangeText(interval)) },
        { title: 'remark', kind: 'words', cell: ({ error }) => clipped(error?.message ?? '', 200) },
      ],
    )}`,
  }
}

// Without the minus of a zero.
function plain(value: number, decimals: number): string {
  return value.toFixed(decimals).replace(/^-(0(?:\.0*)?)$/, '$1')
}

function intervalText(ci: readonly [number, number], tooFew: Score['too_few']): Markup | string {
  if (tooFew === undefined) return rangeText(ci)
  return html`${rangeText(ci)} <span class="muted" title="${`not calibrated: ${roughText(tooFew)}`}">rough: ${tooFew.tasks} of ${tooFew.label}</span>`
}
