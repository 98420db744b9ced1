// Reports that people read and files that other programs take, made from the record alone.
export { researchReport } from './research-report.ts'
export type {
  ReportedAttempt,
  ReportedConfirmation,
  ReportedNoise,
  ResearchReportInput,
} from './research-report-input.ts'
