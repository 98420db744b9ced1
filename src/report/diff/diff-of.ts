import { unifiedDiff } from '../../research/index.ts'
import type { ReportedAttempt, ResearchReportInput } from '../research-report-input.ts'

/** What an attempt changed against its base; undefined where the record does not tell. */
export function diffOf(
  { attempt, diff, files }: ReportedAttempt,
  { attempts }: ResearchReportInput,
): string | undefined {
  if (diff !== undefined) return diff
  const base = attempts.find((each) => each.attempt.id === attempt.parents[0])?.files
  return files === undefined || base === undefined ? undefined : unifiedDiff(base, files)
}
