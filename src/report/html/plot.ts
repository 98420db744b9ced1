// Charts: a frame with axes in HTML, which keep the size of their letters at every width, around a drawing that stretches, scales with
// round ticks, and bars for cells of tables. Coordinates of a drawing go from 0 to 1000 both ways; strokes do not stretch with it.
import { type Content, html, type Markup } from './markup.ts'

interface Tick {
  /** 0 is left or bottom, 1 right or top. */
  readonly at: number
  readonly text: string
}

interface PlotOptions {
  /** What it shows, for screen readers. */
  readonly label: string
  readonly drawing: Content
  readonly xTicks: readonly Tick[]
  readonly yTicks: readonly Tick[]
  readonly xTitle: string
  /** More HTML over the drawing: words placed by `left` and `top`. */
  readonly over?: Content | undefined
  readonly heightPx: number
  /** Room for words above the drawing. */
  readonly abovePx?: number | undefined
}

export function plot({ label, drawing, xTicks, yTicks, xTitle, over, heightPx, abovePx = 0 }: PlotOptions): Markup {
  const width = Math.max(2, ...yTicks.map(({ text }) => text.length))
  const lines = yTicks.map(({ at }) => html`<path class="grid" d="M0 ${coordinate(1 - at)}H1000"/>`)
  return html`<div class="plot" style="--height:${heightPx}px;--ys:${width + 1}ch${abovePx > 0 ? `;margin-top:${abovePx}px` : ''}">
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

/** A range of values along an axis, with round numbers to mark on it. */
export interface Scale {
  readonly low: number
  readonly high: number
  /** Place of a value, 0 at `low` and 1 at `high`; values beyond are put at the ends. */
  at(value: number): number
  readonly ticks: readonly number[]
}

/** A scale from `low` to `high` with about `count` ticks at round values inside it. */
export function linearScale(low: number, high: number, count: number): Scale {
  const span = high - low
  const isFlat = !(span > Math.abs(high) * 1e-12)
  const from = isFlat ? low - (Math.abs(low) || 1) / 2 : low
  const to = isFlat ? high + (Math.abs(high) || 1) / 2 : high
  const step = roundStep((to - from) / count)
  const first = Math.ceil(from / step - 1e-9)
  const last = Math.floor(to / step + 1e-9)
  return {
    low: from,
    high: to,
    at: (value) => Math.min(1, Math.max(0, (value - from) / (to - from))),
    ticks: Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step),
  }
}

/** Decimals that distinguish the ticks. */
export function tickDecimals({ ticks }: Scale): number {
  const step = Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0))
  return Math.min(12, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9) + (isWhole(step) ? 0 : extraDigit(step))))
}

// 1, 2 or 5 times a power of ten: what people count in.
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * 0.999) ?? 10
  return factor * power
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-9
}

// 0.5 needs one decimal, as log10 says; 0.25 would need two, but steps are 1, 2 or 5.
function extraDigit(step: number): number {
  const scaled = step * 10 ** Math.ceil(-Math.log10(step) - 1e-9)
  return isWhole(scaled) ? 0 : 1
}

/** A bar in a cell of a table: `kind` is the class that gives a part its colour, `whole` the size that fills the width. */
export function stackedBar(parts: readonly { readonly kind: string; readonly size: number }[], whole: number): Markup {
  let from = 0
  const rects = parts.map(({ kind, size }) => {
    const at = from
    from += size
    return html`<rect class="part ${kind}" x="${coordinate(at / whole)}" width="${coordinate(size / whole)}" height="10"/>`
  })
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`
}
