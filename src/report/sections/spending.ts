import { durationText, usdText } from '../../kernel/index.ts'
import { html, type Markup, present } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { coordinate, linearScale, plot } from '../html/plot.ts'
import type { ReportContext } from './report-context.ts'

/** Cumulative cost in dollars and in time of runs. */
export function spending({ figures: { spending: spent }, input }: ReportContext): Section | undefined {
  const { usd, seconds, totalUsd, totalSeconds, unknownUsd } = spent
  if (usd === undefined && seconds === undefined) return undefined
  const isFree = totalUsd === 0 && seconds !== undefined
  const charts = present(
    usd === undefined || totalUsd === undefined || isFree
      ? undefined
      : html`<figure><h3>Dollars</h3>${spendingChart('cost', usd, usdText)}</figure>`,
    seconds === undefined || totalSeconds === undefined
      ? undefined
      : html`<figure><h3>Time of runs</h3>${spendingChart('time of runs', seconds, durationText)}</figure>`,
  )
  const { overhead } = input
  const beside = present(
    overhead?.costUsd ? usdText(overhead.costUsd) : undefined,
    overhead?.wallS ? durationText(overhead.wallS) : undefined,
  )
  const remarks = present(
    isFree ? 'No model was paid for.' : undefined,
    beside.length === 0 ? undefined : `Beside the attempts the session took ${beside.join(' and ')}.`,
    usd === undefined || unknownUsd === 0
      ? undefined
      : `The cost of ${unknownUsd} attempts is unknown and not in the curve.`,
  )
  return {
    id: 'cost',
    title: 'What it took',
    short: 'Cost',
    body: html`<div class="columns">${charts}</div>${remarks.length === 0 ? undefined : html`<p class="muted">${remarks.join(' ')}</p>`}`,
  }
}

/** More points than a screen has dots say nothing. */
const mostPoints = 600

/** What a session had taken after each of its attempts; `what` is for the label. */
function spendingChart(what: string, values: readonly number[], text: (value: number) => string): Markup {
  const last = values.length - 1
  const x = linearScale(0, Math.max(1, last), 5)
  const y = linearScale(0, Math.max(...values, Number.MIN_VALUE), 4)
  const every = Math.ceil(values.length / mostPoints)
  const points = values
    .map((value, i) => ({ value, i }))
    .filter(({ i }) => i % every === 0 || i === last)
    .map(({ value, i }) => `${coordinate(x.at(i))} ${coordinate(1 - y.at(value))}`)
  const line = `M${points.join('L')}`
  return plot({
    label: `Cumulative ${what} over ${values.length} attempts: ${text(values[last] ?? 0)} in all.`,
    drawing: html`<path class="area" d="${line}L${coordinate(x.at(last))} 1000L0 1000Z"/><path class="spent" d="${line}"/>`,
    xTicks: x.ticks.map((tick) => ({ at: x.at(tick), text: String(tick) })),
    yTicks: y.ticks.map((tick) => ({ at: y.at(tick), text: text(tick) })),
    xTitle: 'experiment',
    heightPx: 190,
  })
}
