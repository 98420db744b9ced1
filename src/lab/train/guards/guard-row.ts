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

/** The steps of a run up to now. */
export interface Watched {
  readonly rows: readonly GuardRow[]
  /** Steps up to here are from before a roll-back: they tell how the run started, and nothing of how it is doing. */
  readonly after: number
}

/** A metric over steps that have it, oldest first. */
export type Series = readonly { readonly step: number; readonly value: number }[]

export function seriesOf({ rows }: Watched, metric: GuardedMetric): Series {
  return rows.flatMap(({ step, values }) => {
    const value = values[metric]
    return value === undefined ? [] : [{ step, value }]
  })
}
