// The report of a research session: one HTML file that needs no network and no script. A pure function of its data.
import { sessionFigures } from './figures/session-figures.ts'
import { numberWords } from './figures/value-text.ts'
import { html } from './html/markup.ts'
import { page, type Section } from './html/page.ts'
import type { ResearchReportInput } from './input/report-input.ts'
import { allAttempts, reproduce, sessionNotes } from './sections/appendix.ts'
import { keptChanges } from './sections/kept-changes.ts'
import { categories, deadEnds, failures } from './sections/outcomes.ts'
import { overview } from './sections/overview.ts'
import { progression } from './sections/progression.ts'
import type { ReportContext } from './sections/report-context.ts'
import { attemptRuns, knobs, lossCurves } from './sections/runs.ts'
import { spending } from './sections/spending.ts'
import { topAttempts } from './sections/top-attempts.ts'
import { trust } from './sections/trust.ts'

/** Writes the report of a session as HTML. */
export function researchReport(input: ResearchReportInput): string {
  const figures = sessionFigures(input)
  const typical = figures.baseline?.score ?? figures.placed.find(({ score }) => score !== undefined)?.score ?? 1
  const words = numberWords({ typical, sigma: figures.noise.sigma })
  const context: ReportContext = { input, figures, words }
  const parts: readonly ((context: ReportContext) => Section | undefined)[] = [
    progression,
    lossCurves,
    keptChanges,
    trust,
    topAttempts,
    categories,
    knobs,
    deadEnds,
    failures,
    spending,
    sessionNotes,
    reproduce,
    attemptRuns,
    allAttempts,
  ]
  return page({
    title: `Research report: ${input.task.name}`,
    header: overview(context),
    sections: parts.flatMap((part) => part(context) ?? []),
    footer: html`Session ${input.session.id}. Made by evsys from the record alone; this file loads nothing and runs nothing.`,
  })
}
