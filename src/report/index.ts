// Reports that people read and files that other programs take, made from the record alone.

export { reportOfExperiment } from './experiment-report.ts'
export { finalizeResearch, patchReadme } from './finalize/finalize-research.ts'
export { findSession } from './input/read-session.ts'
export type { ResearchReportInput } from './input/report-input.ts'
export { sessionInput } from './input/session-input.ts'
export { type RankedStep, rankNext } from './next/next-step.ts'
export { type FindFile, openSteps } from './next/open-steps.ts'
export { researchReport } from './research-report.ts'
export { resultsTsv } from './results-tsv.ts'
