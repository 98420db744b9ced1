// Whether a failed trial is attempted again, and after what wait. The rule looks at the record alone, so a job that was killed while it
// decided comes to the same decision.
import type { ErrorCode } from '../../contracts/index.ts'
import type { TrialResult } from '../trial/trial-result.ts'
import { RetryConfig } from './job-config.ts'

/**
 * Whether the next attempt is made. Names that are included by name are always repeated; without a list only failures of infrastructure
 * are: an agent that failed by itself is not asked until it succeeds.
 */
export function isRetried({ exception_info, evsys }: TrialResult, failedBefore: number, retry: RetryConfig): boolean {
  if (exception_info === null || failedBefore >= retry.max_retries) return false
  const { exception_type } = exception_info
  if (exception_type === 'CancelledError' || retry.exclude_exceptions?.includes(exception_type)) return false
  return retry.include_exceptions?.includes(exception_type) ?? evsys?.error?.infra !== false
}

/** Failures that another attempt may be spared. What is refused, missing or misspelt stays so. */
const passing: readonly ErrorCode[] = [
  ...(['ENVIRONMENT_FAILED', 'SANDBOX_FAILED', 'FILE_FAILED', 'VERIFIER_FAILED'] as const),
  ...(['INFERENCE_FAILED', 'BACKEND_FAILED'] as const),
]

/** Whether a trial outside of a job may be attempted again: infrastructure ended it, by a failure that passes. */
export function isRepeatable({ exception_info, step_results, evsys }: TrialResult): boolean {
  const error = evsys?.error
  if (error?.infra !== true || !passing.includes(error.code)) return false
  const steps = step_results?.map((step) => step.exception_info?.exception_type) ?? []
  const { exclude_exceptions } = RetryConfig.parse({})
  return ![exception_info?.exception_type, ...steps].some((name) => exclude_exceptions?.includes(name ?? ''))
}

export function retryWaitMs(
  failedBefore: number,
  { min_wait_sec, wait_multiplier, max_wait_sec }: RetryConfig,
): number {
  return Math.min(min_wait_sec * wait_multiplier ** failedBefore, max_wait_sec) * 1000
}
