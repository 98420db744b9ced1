// What a plan brings to its runs: plugin files, callbacks, and every data block once, with the arms and seeds that use it.
import {
  type DataConfig,
  type Plan,
  type PluginSpec,
  type RecordedPlan,
  RowFormat,
  type RunConfig,
} from '../../contracts/index.ts'
import { sourceKind } from '../../data/index.ts'
import { type Catalog, hashOf } from '../../kernel/index.ts'

export interface TrainingData {
  readonly data: DataConfig
  readonly format: RowFormat
  /** Names, in the order of the plan. */
  readonly arms: readonly string[]
  readonly seeds: readonly number[]
  /** The first run that uses it. */
  readonly config: RunConfig
  readonly callbacks: readonly PluginSpec[]
  /** Whether all its plugins come with evsys: then the controller may read it. */
  readonly isBuiltIn: boolean
}

/** Algorithms that take no rows are left out. */
export function trainingDataOf(plan: Plan, catalog: Pick<Catalog, 'card'>): TrainingData[] {
  const found = new Map<
    string,
    { data: DataConfig; format: RowFormat; config: RunConfig; arms: Set<string>; seeds: Set<number> }
  >()
  for (const { arm, seed, config } of plan.runs) {
    const format = RowFormat.safeParse(catalog.card('algorithm', config.algorithm.kind)?.facts.rowFormat)
    if (!format.success) continue
    for (const data of [config.data, ...(config.mix ?? [])]) {
      const key = hashOf({ data, format: format.data })
      const known = found.get(key) ?? { data, format: format.data, config, arms: new Set(), seeds: new Set() }
      known.arms.add(arm)
      known.seeds.add(seed)
      found.set(key, known)
    }
  }
  const isOurs = (type: 'data_source' | 'transform', kind: string) => catalog.card(type, kind)?.origin === 'built-in'
  return [...found.values()].map(({ data, arms, seeds, ...rest }) => ({
    ...rest,
    data,
    arms: [...arms],
    seeds: [...seeds],
    callbacks: callbacksOf(plan),
    isBuiltIn:
      isOurs('data_source', sourceKind(data)) && data.transforms.every(({ kind }) => isOurs('transform', kind)),
  }))
}

/** Callbacks of every run; without any, its files are written. */
export function callbacksOf({ experiment }: Pick<RecordedPlan, 'experiment'>): PluginSpec[] {
  return experiment.callbacks.length > 0 ? experiment.callbacks : [{ kind: 'local_logger', params: {} }]
}
