// Rewards of several steps: whether the next one is reached, and what the whole trial gets.
import type { ExceptionName } from './trial-error.ts'
import type { Rewards, StepResult } from './trial-result.ts'

/** Whether a step was good enough for the next one. A number gates the key `reward`; what is missing is below every gate. */
export function meetsGate(
  minReward: number | Readonly<Record<string, number>> | undefined,
  rewards: Rewards | null | undefined,
): boolean {
  if (minReward === undefined) return true
  const gates = typeof minReward === 'number' ? { reward: minReward } : minReward
  return Object.entries(gates).every(([key, least]) => (rewards?.[key] ?? Number.NEGATIVE_INFINITY) >= least)
}

/**
 * Rewards of the trial. `mean`: per key, over the steps that were scored; `final`: those of the last step that ran. A step that could
 * not be scored for what its agent left counts as 0.
 */
export function combineSteps(
  steps: readonly (Pick<StepResult, 'verifier_result'> & Partial<Pick<StepResult, 'exception_info'>>)[],
  strategy: 'mean' | 'final',
): Rewards | undefined {
  if (strategy === 'final') return steps.at(-1)?.verifier_result?.rewards ?? undefined
  const scored = steps
    .map(({ verifier_result, exception_info }) => verifier_result?.rewards ?? (isWrecked(exception_info) ? {} : null))
    .filter((each) => each !== null)
  if (scored.length === 0) return undefined
  const keys = [...new Set(scored.flatMap((rewards) => Object.keys(rewards)))]
  if (keys.length === 0) return undefined
  return Object.fromEntries(
    keys.map((key) => [key, scored.reduce((sum, rewards) => sum + (rewards[key] ?? 0), 0) / scored.length]),
  )
}

function isWrecked(info: StepResult['exception_info'] | undefined): boolean {
  return info?.exception_type === ('EnvironmentWreckedError' satisfies ExceptionName)
}

/** The number that counts: the key `reward`, else the only one. */
export function scalarReward(rewards: Rewards | null | undefined): number | undefined {
  if (rewards === null || rewards === undefined) return undefined
  const values = Object.values(rewards)
  return rewards.reward ?? (values.length === 1 ? values[0] : undefined)
}
