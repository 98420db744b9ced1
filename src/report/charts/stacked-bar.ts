// A bar in a cell of a table, in parts that stand beside each other. The numbers stand in the cells next to it.
import { html, type Markup } from '../html/markup.ts'
import { coordinate } from './plot.ts'

export interface BarPart {
  /** Class that gives its colour. */
  readonly kind: string
  readonly size: number
}

/** `whole` is the size that fills the width. */
export function stackedBar(parts: readonly BarPart[], whole: number): Markup {
  let from = 0
  const rects = parts.map(({ kind, size }) => {
    const at = from
    from += size
    return html`<rect class="part ${kind}" x="${coordinate(at / whole)}" width="${coordinate(size / whole)}" height="10"/>`
  })
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`
}
