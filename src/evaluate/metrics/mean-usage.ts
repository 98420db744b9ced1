// Averages of what answers cost, in time, tokens or money.
import type { Usage } from '../../contracts/index.ts'
import { meanOf } from './full-rewards.ts'

/**
 * Mean over tasks of the mean over their samples, of those that reported the value. Undefined where nothing was reported:
 * unknown is never zero.
 */
export function meanUsage(
  usage: readonly (readonly Usage[])[],
  amountOf: (usage: Usage) => number | undefined,
): number | undefined {
  const perTask = usage.map((task) => meanOf(task.map(amountOf).filter(isReported)))
  return meanOf(perTask.filter(isReported))
}

function isReported(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value)
}
