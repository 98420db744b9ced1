import type { Outcome } from '../figures/placed-attempt.ts'
import type { SessionFigures } from '../figures/session-figures.ts'
import { type NumberWords, outcomeWord } from '../figures/value-text.ts'
import { html, type Markup } from '../html/markup.ts'
import type { ResearchReportInput } from '../input/report-input.ts'

/** What every section of a research report is written from. */
export interface ReportContext {
  readonly input: ResearchReportInput
  readonly figures: SessionFigures
  readonly words: NumberWords
}

/** The outcome of an attempt in its colour; the word says it as well. */
export function outcomeLabel(outcome: Outcome): Markup {
  return html`<span class="outcome ${outcome}">${outcomeWord(outcome)}</span>`
}
