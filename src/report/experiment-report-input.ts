import type { Evidence, ExperimentResult, RunRow } from '../contracts/index.ts'

/** What the report of an experiment is made from: data alone. */
export interface ExperimentReportInput {
  readonly result: ExperimentResult
  readonly evidence: Evidence
  readonly hypothesis?: string
  readonly createdAt: string
  readonly tags: readonly string[]
  /** What authors added. */
  readonly words: readonly { readonly at: string; readonly author: string; readonly text: string }[]
  readonly runs: readonly Pick<RunRow, 'id' | 'name' | 'arm' | 'seed' | 'status' | 'wallS' | 'error' | 'invalid'>[]
}
