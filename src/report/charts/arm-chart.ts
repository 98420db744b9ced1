// Arms side by side: every seed a dot, the interval of the mean a line.
import type { ArmEvidence } from '../../contracts/index.ts'
import { clipped, html, type Markup } from '../html/markup.ts'
import { linearScale, tickDecimals } from './linear-scale.ts'
import { coordinate, percent, plot } from './plot.ts'

/** More would be no chart. */
const mostArms = 24

export function armChart(arms: readonly ArmEvidence[]): Markup | undefined {
  const shown = arms.filter(({ by_seed }) => by_seed.length > 0).slice(0, mostArms)
  const values = shown.flatMap(({ by_seed, score }) => [...by_seed.map(({ value }) => value), ...(score?.ci ?? [])])
  if (values.length === 0) return undefined
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const margin = 0.06 * (high - low)
  const x = linearScale(low - margin, high + margin, 6)
  const decimals = tickDecimals(x)
  const at = (i: number) => (i + 0.62) / shown.length
  const drawing = shown.map(({ name, by_seed, score }, i) => {
    const y = coordinate(at(i))
    const line =
      score?.ci == null
        ? undefined
        : html`<path class="spent" d="M${coordinate(x.at(score.ci[0]))} ${y}H${coordinate(x.at(score.ci[1]))}"/>`
    const mean =
      score === null
        ? undefined
        : html`<g class="dot provisional"><path d="M${coordinate(x.at(score.mean))} ${y}h.01"/></g>`
    const dots = by_seed.map(
      ({ seed, value }) =>
        html`<path d="M${coordinate(x.at(value))} ${y}h.01"><title>${clipped(name, 80)}, seed ${seed}: ${value}</title></path>`,
    )
    return html`${line}<g class="dot discarded">${dots}</g>${mean}`
  })
  return plot({
    label: `Scores of ${shown.length} arms, seed by seed. The table below holds all numbers.`,
    drawing,
    over: shown.map(
      ({ name }, i) =>
        html`<span class="arm" style="top:${percent(at(i) - 0.42 / shown.length)}">${clipped(name, 60)}</span>`,
    ),
    xTicks: x.ticks.map((tick) => ({ at: x.at(tick), text: tick.toFixed(decimals) })),
    yTicks: [],
    xTitle: 'score',
    heightPx: 60 + 46 * shown.length,
  })
}
