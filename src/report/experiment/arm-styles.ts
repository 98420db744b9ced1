// How arms are drawn in a report: a colour each, the same in tables and charts, and a strip that shows seeds, mean and interval on the scale that
// all arms share.
import type { ArmEvidence } from '../../contracts/index.ts'
import { numberText, rangeText } from '../../kernel/index.ts'
import { clipped, html, type Markup } from '../html/markup.ts'
import { coordinate, linearScale, type Scale } from '../html/plot.ts'

/** Colours of templates/report.css. Further arms begin again, dashed. */
const colours = 8

export interface ArmStyle {
  /** Classes of the colour and, from the ninth arm on, of the dash. */
  readonly kind: string
  /** Its name without what all arms begin with. */
  readonly short: string
}

export type ArmStyles = ReadonlyMap<string, ArmStyle>

export function armStyles(arms: readonly Pick<ArmEvidence, 'name'>[]): ArmStyles {
  const prefix = sharedPrefix(arms.map(({ name }) => name).filter((name) => name !== 'base_model'))
  return new Map(
    arms.map(({ name }, i) => {
      const kind = `a${i % colours}${i < colours ? '' : ' dashed'}`
      return [name, { kind, short: name.startsWith(prefix) ? name.slice(prefix.length) : name }] as const
    }),
  )
}

// Names of arms are the name of the run and the values of their axes: experiment__learning_rate0p1.
function sharedPrefix([first = '', ...others]: readonly string[]): string {
  const end = first.indexOf('__') + 2
  const prefix = first.slice(0, end)
  return end > 2 && end < first.length && others.every((name) => name.startsWith(prefix)) ? prefix : ''
}

/** The name of an arm as this report shows it. */
export function shortName(styles: ArmStyles, arm: string): string {
  return clipped(styles.get(arm)?.short ?? arm, 80)
}

export function swatch(styles: ArmStyles, arm: string): Markup {
  const kind = styles.get(arm)?.kind ?? 'a0'
  return html`<svg class="swatch" viewBox="0 0 16 10" aria-hidden="true"><path class="${kind}" d="M1 5H15"/></svg>`
}

export function armName(styles: ArmStyles, arm: string, isBest: boolean): Markup {
  const name = shortName(styles, arm)
  const shown = isBest ? html`<b>${name}</b> <span class="tag">best</span>` : name
  return html`<span title="${clipped(arm, 200)}">${swatch(styles, arm)}${shown}</span>`
}

/** A scale over everything that a strip shows. */
export function stripScale(arms: readonly Pick<ArmEvidence, 'by_seed' | 'score'>[]): Scale | undefined {
  const values = arms.flatMap(({ by_seed, score }) => [...by_seed.map(({ value }) => value), ...(score?.ci ?? [])])
  if (values.length === 0) return undefined
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const margin = 0.06 * (high - low)
  return linearScale(low - margin, high + margin, 4)
}

/** Rings are seeds, the bar is the interval, the tick the mean. */
export function strip({ name, by_seed, score }: ArmEvidence, x: Scale, styles: ArmStyles): Markup {
  const kind = styles.get(name)?.kind ?? 'a0'
  const at = (value: number) => coordinate(x.at(value))
  const bar =
    score?.ci == null ? undefined : html`<path class="span ${kind}" d="M${at(score.ci[0])} 500H${at(score.ci[1])}"/>`
  const seeds = by_seed.map(({ value }) => html`<path class="seed ${kind}" d="M${at(value)} 500h.01"/>`)
  const holes = by_seed.map(({ value }) => html`<path class="hole" d="M${at(value)} 500h.01"/>`)
  const mean = score === null ? undefined : html`<path class="mean" d="M${at(score.mean)} 120V880"/>`
  const label =
    score === null
      ? 'no score'
      : `mean ${numberText(score.mean)}${score.ci === null ? '' : `, interval ${rangeText(score.ci)}`}`
  return html`<svg class="strip" viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="axis" d="M0 500H1000"/>${bar}${seeds}${holes}${mean}</svg>`
}
