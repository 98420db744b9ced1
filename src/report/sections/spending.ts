import { durationText, usdText } from '../../kernel/index.ts'
import { spendingChart } from '../charts/spending-chart.ts'
import { type Content, html } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { ReportContext } from './report-context.ts'

/** Cumulative cost in dollars and in time of runs. */
export function spending({ figures: { spending: spent }, input }: ReportContext): Section | undefined {
  const { usd, seconds, totalUsd, totalSeconds, unknownUsd } = spent
  if (usd === undefined && seconds === undefined) return undefined
  const isFree = totalUsd === 0 && seconds !== undefined
  const charts: Content[] = [
    ...(usd === undefined || totalUsd === undefined || isFree
      ? []
      : [html`<figure><h3>Dollars</h3>${spendingChart({ what: 'cost', values: usd, text: usdText })}</figure>`]),
    ...(seconds === undefined || totalSeconds === undefined
      ? []
      : [
          html`<figure><h3>Time of runs</h3>${spendingChart({ what: 'time of runs', values: seconds, text: durationText })}</figure>`,
        ]),
  ]
  const { overhead } = input
  const beside = [
    ...(overhead?.costUsd === undefined || overhead.costUsd === 0 ? [] : [usdText(overhead.costUsd)]),
    ...(overhead?.wallS === undefined || overhead.wallS === 0 ? [] : [durationText(overhead.wallS)]),
  ]
  const remarks = [
    ...(isFree ? ['No model was paid for.'] : []),
    ...(beside.length === 0 ? [] : [`Beside the attempts the session took ${beside.join(' and ')}.`]),
    ...(usd === undefined || unknownUsd === 0
      ? []
      : [`The cost of ${unknownUsd} attempts is unknown and not in the curve.`]),
  ]
  return {
    id: 'cost',
    title: 'What it took',
    short: 'Cost',
    body: html`<div class="columns">${charts}</div>${remarks.length === 0 ? undefined : html`<p class="muted">${remarks.join(' ')}</p>`}`,
  }
}
