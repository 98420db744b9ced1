// Curves of training and of evaluations in the loop: a thin line for each run, a thick one for the mean of an arm.
import type { ResultCurve } from '../../contracts/index.ts'
import { html, type Markup } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { coordinate, linearScale, plot, type Scale, tickDecimals } from '../html/plot.ts'
import type { Judged } from './arm-sections.ts'
import { type ArmStyles, shortName, swatch } from './arm-styles.ts'

/** Figures of one report. */
const mostFigures = 8

export function curveSection({ result: { curves = [] }, styles }: Judged): Section | undefined {
  const metrics = [...new Set(curves.map(({ metric }) => metric))].slice(0, mostFigures)
  if (metrics.length === 0) return undefined
  const figures = metrics.map((metric) =>
    figure(
      curves.filter((each) => each.metric === metric),
      metric,
      styles,
    ),
  )
  const arms = [...new Set(curves.map(({ arm }) => arm))]
  const legend = html`<ul class="legend">${arms.map((arm) => html`<li>${swatch(styles, arm)}${shortName(styles, arm)}</li>`)}</ul>`
  return {
    id: 'curves',
    title: 'Curves',
    short: 'Curves',
    body: html`<p class="muted">Thin lines are runs, thick ones the mean of an arm. Nothing is smoothed; long runs are thinned to averages.</p>${legend}<div class="figures">${figures}</div>`,
  }
}

function figure(curves: readonly ResultCurve[], metric: string, styles: ArmStyles): Markup {
  const points = curves.flatMap((each) => each.points)
  const steps = points.map(([step]) => step + 1)
  const values = points.map(([, value]) => value)
  const x = linearScale(Math.min(...steps), Math.max(...steps), 5)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const margin = 0.05 * (high - low)
  const y = linearScale(low - margin, high + margin, 4)
  const decimals = tickDecimals(y)
  const arms = [...new Set(curves.map(({ arm }) => arm))]
  const kindOf = (arm: string) => styles.get(arm)?.kind ?? 'a0'
  const thin = curves.map(({ arm, points: own }) => html`<path class="run ${kindOf(arm)}" d="${lineOf(own, x, y)}"/>`)
  const thick = arms.map((arm) => {
    const own = curves.filter((each) => each.arm === arm)
    return html`<path class="line ${kindOf(arm)}" d="${lineOf(meanOf(own), x, y)}"/>`
  })
  const split = curves[0]?.split
  const what = split === 'train' ? 'training' : `in the loop, ${split}`
  return html`<figure><figcaption><b>${metric}</b> <span class="muted">${what}</span></figcaption>${plot({
    label: `${metric} by step of ${curves.length} runs`,
    drawing: [...thin, ...thick],
    xTicks: x.ticks.map((tick) => ({ at: x.at(tick), text: String(Math.round(tick)) })),
    yTicks: y.ticks.map((tick) => ({ at: y.at(tick), text: tick.toFixed(decimals) })),
    xTitle: 'step',
    heightPx: 220,
  })}</figure>`
}

function lineOf(points: readonly (readonly [number, number])[], x: Scale, y: Scale): string {
  return points
    .map(([step, value], i) => `${i === 0 ? 'M' : 'L'}${coordinate(x.at(step + 1))} ${coordinate(1 - y.at(value))}`)
    .join('')
}

/** At the steps that all runs of the arm have. */
function meanOf(curves: readonly ResultCurve[]): [number, number][] {
  const [first] = curves
  const byStep = curves.map(({ points }) => new Map(points))
  return (first?.points ?? []).flatMap(([step]): [number, number][] => {
    const values = byStep.flatMap((each) => each.get(step) ?? [])
    return values.length < curves.length ? [] : [[step, values.reduce((sum, each) => sum + each, 0) / values.length]]
  })
}
