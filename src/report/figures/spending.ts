// What a session took, attempt by attempt. Unknown is not zero: where a part is unknown, the total says how much of it is known.
import type { ResearchReportInput } from '../research-report-input.ts'

export interface Spending {
  /** Up to and with each attempt, in their order. Absent: no cost is known. */
  readonly usd?: readonly number[]
  readonly seconds?: readonly number[]
  readonly totalUsd?: number
  readonly totalSeconds?: number
  /** Attempts whose cost in dollars is not known. */
  readonly unknownUsd: number
  readonly confirmed: number
}

export function spendingOf({ attempts, overhead }: ResearchReportInput): Spending {
  const usd = cumulative(attempts.map(({ costUsd }) => costUsd))
  const seconds = cumulative(attempts.map(({ wallS }) => wallS))
  const totalUsd = total(usd, overhead?.costUsd)
  const totalSeconds = total(seconds, overhead?.wallS)
  return {
    ...(usd === undefined ? {} : { usd }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(totalUsd === undefined ? {} : { totalUsd }),
    ...(totalSeconds === undefined ? {} : { totalSeconds }),
    unknownUsd: attempts.filter(({ costUsd }) => costUsd === undefined).length,
    confirmed: attempts.filter(({ attempt }) => attempt.verdict === 'confirmed').length,
  }
}

function cumulative(values: readonly (number | undefined)[]): number[] | undefined {
  if (values.every((value) => value === undefined)) return undefined
  let sum = 0
  return values.map((value) => (sum += value ?? 0))
}

function total(series: readonly number[] | undefined, more: number | undefined): number | undefined {
  const last = series?.at(-1)
  return last === undefined && more === undefined ? undefined : (last ?? 0) + (more ?? 0)
}
