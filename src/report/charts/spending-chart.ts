// What a session had taken after each of its attempts.
import { html, type Markup } from '../html/markup.ts'
import { linearScale } from './linear-scale.ts'
import { coordinate, plot } from './plot.ts'

export interface SpendingSeries {
  /** `cost`, `time`: for the label. */
  readonly what: string
  readonly values: readonly number[]
  readonly text: (value: number) => string
}

/** More points than a screen has dots say nothing. */
const mostPoints = 600

export function spendingChart({ what, values, text }: SpendingSeries): Markup {
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
