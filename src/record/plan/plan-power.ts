// What a plan can find out: the smallest effect that its seeds show, and how many seeds the claimed one takes.
import type { Benchmark, Evidence, Plan } from '../../contracts/index.ts'
import { readBenchmarkFolder } from '../../evaluate/index.ts'
import {
  bernoulliDifferenceSd,
  pairsNeeded,
  pooledNoise,
  smallestDetectableEffect,
  usualPower,
} from '../../stats/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { isDryRun } from '../evidence/dry-run.ts'
import { storedEvidence } from '../history-entry.ts'

/** Where the size of chance comes from. */
type NoiseBasis =
  | { readonly from: 'history'; readonly experiments: number; readonly df: number }
  | { readonly from: 'tasks'; readonly tasks: number; readonly samples: number }

export interface PlanPower {
  readonly benchmark: string
  readonly metric: string
  /** Paired differences that the plan makes: seeds that both sides share, over all pairs of the claim. */
  readonly pairs: number
  readonly confidence: number
  readonly power: number
  readonly minEffect: number
  /** Standard deviation of one paired difference; absent: unknown. */
  readonly noise?: { readonly sd: number; readonly basis: NoiseBasis } | undefined
  /** Largest effect that the metric can have; absent: it has no bound. */
  readonly largest?: number | undefined
  /** Smallest true effect that comes out as supported; null: none, or unknown. */
  readonly detects: number | null
  /** Seeds for a true effect of twice `minEffect`; null: too many, or nothing is claimed. */
  readonly needed: { readonly effect: number; readonly pairs: number | null } | null
}

// Means of rights and wrongs, whose spread is known; other metrics could have any.
const SHARES = /^(?:pass@\d+|pass\^\d+|pass_rate|mean_reward|avg)$/

/** Undefined for a plan that compares nothing. */
export async function planPower(store: OpenStore, plan: Plan, signal: AbortSignal): Promise<PlanPower | undefined> {
  const judged = plan.claim ?? plan.objective
  if (judged === undefined) return undefined
  const { benchmark, metric } = judged
  const { confidence, min_effect: minEffect } = plan.claim ?? { confidence: 0.9, min_effect: 0 }
  const pairs = pairsIn(plan)
  const noise = await noiseOf(store, plan, benchmark, metric, signal)
  const bound = SHARES.test(metric) ? { largest: 1 } : {}
  const known = { benchmark, metric, pairs, confidence, power: usualPower, minEffect, ...bound }
  if (noise === undefined) return { ...known, detects: null, needed: null }
  const { sd } = noise
  const beyond = pairs === 0 ? null : smallestDetectableEffect({ pairs, sd, confidence })
  const needed =
    minEffect > 0 ? { effect: 2 * minEffect, pairs: pairsNeeded({ gap: minEffect, sd, confidence }) } : null
  return { ...known, noise, detects: beyond === null ? null : minEffect + beyond, needed }
}

function pairsIn({ claim, arms }: Plan): number {
  const seedsOf = (name: string) => arms.find((arm) => arm.name === name)?.seeds
  if (claim === undefined) return Math.min(...arms.map(({ seeds }) => seeds.length))
  return claim.pairs.reduce((sum, { treatment, baseline }) => {
    // The base model is scored once for every seed of the other side.
    const a = seedsOf(treatment) ?? seedsOf(baseline) ?? []
    const b = new Set(seedsOf(baseline) ?? a)
    return sum + a.filter((seed) => b.has(seed)).length
  }, 0)
}

async function noiseOf(
  store: OpenStore,
  plan: Plan,
  name: string,
  metric: string,
  signal: AbortSignal,
): Promise<PlanPower['noise']> {
  const benchmark = plan.experiment.metadata.benchmark.find((each) => each.name === name)
  if (benchmark === undefined) return undefined
  const known = await knownNoise(store, benchmark, metric)
  if (known !== undefined) {
    const { sd, df, experiments } = known
    return { sd, basis: { from: 'history', experiments, df } }
  }
  if (!SHARES.test(metric) || benchmark.path === undefined) return undefined
  const { tasks } = await readBenchmarkFolder(benchmark.path, { signal })
  const count = Math.min(tasks.length, benchmark.limit ?? tasks.length)
  const samples = benchmark.num_samples
  return { sd: bernoulliDifferenceSd({ tasks: count, samples }), basis: { from: 'tasks', tasks: count, samples } }
}

// How much the difference of two arms moves by chance, from what the record holds of earlier experiments on the same benchmark.
interface KnownNoise {
  /** Standard deviation of one paired difference. */
  readonly sd: number
  readonly df: number
  readonly experiments: number
}

/** Experiments that are looked at, the newest first. */
const MOST_EXPERIMENTS = 200

/** Undefined: nothing was measured twice yet, or everything came out equal. */
async function knownNoise(store: OpenStore, benchmark: Benchmark, metric: string): Promise<KnownNoise | undefined> {
  const groups: number[][] = []
  let experiments = 0
  for (const row of await store.experiments({ limit: MOST_EXPERIMENTS })) {
    if (row.verdict === undefined || isDryRun(row) || !judgedBy(row, benchmark, metric)) continue
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
