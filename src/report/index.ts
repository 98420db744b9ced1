// Reports that people read and files that other programs take, made from the record alone.
export { type FinalizedSession, finalizeResearch, type KeptPatch } from './finalize/finalize-research.ts'
export { patchReadme } from './finalize/patch-readme.ts'
export { type NextStep, type RankedStep, rankNext } from './next/next-step.ts'
export { openSteps } from './next/open-steps.ts'
export { findSession, readSession } from './read-session.ts'
export { reportOfExperiment } from './report-of-experiment.ts'
export { researchReport } from './research-report.ts'
export type {
  ReportedAttempt,
  ReportedConfirmation,
  ReportedNoise,
  ResearchReportInput,
} from './research-report-input.ts'
export { resultsTsv } from './results-tsv.ts'
export { sessionInput } from './session-input.ts'
