// What guards look at: some metrics of a step. A recipe tells those that it has; a guard whose metrics are missing sees nothing.
import type { Metrics } from '../../../contracts/index.ts'

export const guardedMetrics = [
  'optim/entropy',
  'optim/kl_reference',
  'optim/kl_sample_train_v2',
  'rollout/length_mean',
  'reward/mean',
  'heldout/mean',
] as const
export type GuardedMetric = (typeof guardedMetrics)[number]

export interface GuardRow {
  readonly step: number
  readonly values: Readonly<Partial<Record<GuardedMetric, number>>>
}

/** The guarded metrics of a step and what stood before their names; undefined: it has none. */
export function guardRow(step: number, metrics: Metrics): (GuardRow & { readonly label: string }) | undefined {
  const values: Partial<Record<GuardedMetric, number>> = {}
  let label = ''
  for (const [key, value] of Object.entries(metrics)) {
    const name = guardedMetrics.find((each) => key === each || key.endsWith(`/${each}`))
    if (name === undefined || !Number.isFinite(value)) continue
    values[name] = value
    label = key.slice(0, -name.length)
  }
  return Object.keys(values).length === 0 ? undefined : { step, values, label }
}

/** A metric over steps that have it, oldest first. */
export function seriesOf(
  rows: readonly GuardRow[],
  metric: GuardedMetric,
): { readonly step: number; readonly value: number }[] {
  return rows.flatMap(({ step, values }) => {
    const value = values[metric]
    return value === undefined ? [] : [{ step, value }]
  })
}
