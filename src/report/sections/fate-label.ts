import type { Fate } from '../figures/placed-attempt.ts'
import { html, type Markup } from '../html/markup.ts'
import { fateWord } from '../words/fate-word.ts'

/** The fate of an attempt in its colour; the word says it as well. */
export function fateLabel(fate: Fate): Markup {
  return html`<span class="fate ${fate}">${fateWord(fate)}</span>`
}
