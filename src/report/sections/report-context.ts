import type { SessionFigures } from '../figures/session-figures.ts'
import type { ResearchReportInput } from '../research-report-input.ts'
import type { NumberWords } from '../words/number-words.ts'

/** What every section of a research report is written from. */
export interface ReportContext {
  readonly input: ResearchReportInput
  readonly figures: SessionFigures
  readonly words: NumberWords
}
