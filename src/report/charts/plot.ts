// The frame of a chart: axes in HTML, which keep the size of their letters at every width, around a drawing that stretches. Its
// coordinates go from 0 to 1000 both ways. Lines and dots do not stretch with it: their width is that of a stroke.
import { type Content, html, type Markup } from '../html/markup.ts'

export interface Tick {
  /** 0 is left or bottom, 1 right or top. */
  readonly at: number
  readonly text: string
}

export interface PlotOptions {
  /** What it shows, for who cannot see it. */
  readonly label: string
  readonly drawing: Content
  readonly xTicks: readonly Tick[]
  readonly yTicks: readonly Tick[]
  readonly xTitle: string
  /** More HTML over the drawing: words placed by `left` and `top`. */
  readonly over?: Content
  readonly heightPx: number
}

export function plot({ label, drawing, xTicks, yTicks, xTitle, over, heightPx }: PlotOptions): Markup {
  const width = Math.max(2, ...yTicks.map(({ text }) => text.length))
  const lines = yTicks.map(({ at }) => html`<path class="grid" d="M0 ${coordinate(1 - at)}H1000"/>`)
  return html`<div class="plot" style="--height:${heightPx}px;--ys:${width + 1}ch">
<div class="ys" aria-hidden="true">${yTicks.map(({ at, text }) => html`<span style="top:${percent(1 - at)}">${text}</span>`)}</div>
<div class="drawing"><svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="${label}">${lines}${drawing}</svg>${over}</div>
<div class="xs" aria-hidden="true">${xTicks.map(({ at, text }) => html`<span style="left:${percent(at)}">${text}</span>`)}</div>
<div class="x-title" aria-hidden="true">${xTitle}</div>
</div>`
}

/** A share of the drawing's width or height, in its coordinates. */
export function coordinate(share: number): string {
  return String(Math.round(share * 10_000) / 10)
}

export function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`
}
