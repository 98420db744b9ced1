// How much the difference of two arms moves by chance, from what the record holds of earlier experiments on the same benchmark.
import type { Benchmark, Evidence } from '../../contracts/index.ts'
import { pooledNoise } from '../../stats/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { isTrial } from '../experiment/trial.ts'
import { storedEvidence } from './history-entry.ts'

export interface KnownNoise {
  /** Standard deviation of one paired difference. */
  readonly sd: number
  readonly df: number
  readonly experiments: number
}

/** Experiments that are looked at, the newest first. */
const MOST_EXPERIMENTS = 200

/** Undefined: nothing was measured twice yet, or everything came out equal. */
export async function knownNoise(
  store: OpenStore,
  benchmark: Benchmark,
  metric: string,
): Promise<KnownNoise | undefined> {
  const groups: number[][] = []
  let experiments = 0
  for (const row of await store.experiments({ limit: MOST_EXPERIMENTS })) {
    if (row.verdict === undefined || isTrial(row) || !judgedBy(row, benchmark, metric)) continue
    const found = differencesIn(storedEvidence(row))
    if (found.length > 0) experiments += 1
    groups.push(...found)
  }
  const { sigma, df } = pooledNoise({ baseline: [], differences: groups })
  return sigma === null || sigma === 0 ? undefined : { sd: sigma, df, experiments }
}

function judgedBy({ objective, plan }: ExperimentRow, { name, path, split }: Benchmark, metric: string): boolean {
  if (objective?.benchmark !== name || objective.metric !== metric) return false
  const own = plan.experiment.metadata.benchmark.find((each) => each.name === name)
  return own?.path === path && own?.split === split
}

// Every arm against the first, seed by seed. An arm alone: two runs of it differ by the square root of two times its own spread.
function differencesIn(evidence: Evidence | undefined): number[][] {
  const [first, ...others] = evidence?.arms.filter(({ by_seed }) => by_seed.length >= 2) ?? []
  if (first === undefined) return []
  if (others.length === 0) return [first.by_seed.map(({ value }) => value * Math.SQRT2)]
  const baseline = new Map(first.by_seed.map(({ seed, value }) => [seed, value]))
  return others.map(({ by_seed }) =>
    by_seed.flatMap(({ seed, value }) => {
      const other = baseline.get(seed)
      return other === undefined ? [] : [value - other]
    }),
  )
}
