// What a plan can find out, judged as its claims will be, over seeds and tasks: the smallest effect that comes out as supported, and how
// many seeds or tasks the claimed one takes.
import type { Benchmark, Plan, PlanPower } from '../../contracts/index.ts'
import { readBenchmarkFolder } from '../../evaluate/index.ts'
import {
  bernoulliDifferenceSd,
  crossedDetectable,
  crossedPairsNeeded,
  crossedTasksNeeded,
  type DifferenceVariances,
  detectableBySeeds,
  pairsNeeded,
  smallestDetectableEffect,
  usualPower,
} from '../../stats/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { noiseBetween, type RecordedNoise, recordedNoise } from './recorded-noise.ts'

// Means of rights and wrongs, whose spread is known; other metrics could have any.
const SHARES = /^(?:pass@\d+|pass\^\d+|pass_rate|mean_reward|accuracy|avg)$/

type Claim = NonNullable<Plan['claim']>

/** One for each claim; without a claim, of the objective. Empty for a plan that compares nothing. */
export async function planPower(store: OpenStore, plan: Plan, signal: AbortSignal): Promise<PlanPower[]> {
  const claims = plan.claims ?? (plan.claim === undefined ? [] : [plan.claim])
  if (claims.length === 0) {
    const { objective, arms } = plan
    if (objective === undefined) return []
    const pairs = Math.min(...arms.map(({ seeds }) => seeds.length))
    return [await powerOf(store, plan, { ...objective, pairs, confidence: 0.9, minEffect: 0 }, signal)]
  }
  return await Promise.all(
    claims.map((claim) => {
      const confidence = 1 - (1 - claim.confidence) / claims.length
      const { benchmark, baseline_benchmark: other, metric, min_effect: minEffect } = claim
      const judged = { benchmark, other, metric, pairs: pairsIn(plan, claim), confidence, minEffect }
      return powerOf(store, plan, judged, signal)
    }),
  )
}

function pairsIn({ arms }: Plan, { pairs }: Claim): number {
  const seedsOf = (name: string) => arms.find((arm) => arm.name === name)?.seeds
  return pairs.reduce((sum, { treatment, baseline }) => {
    // The base model is scored once for every seed of the other side.
    const a = seedsOf(treatment) ?? seedsOf(baseline) ?? []
    const b = new Set(seedsOf(baseline) ?? a)
    return sum + a.filter((seed) => b.has(seed)).length
  }, 0)
}

interface Judged {
  readonly benchmark: string
  /** Of the baseline, where that is scored on another benchmark. */
  readonly other?: string | undefined
  readonly metric: string
  readonly pairs: number
  readonly confidence: number
  readonly minEffect: number
}

async function powerOf(store: OpenStore, plan: Plan, judged: Judged, signal: AbortSignal): Promise<PlanPower> {
  const { benchmark: name, other: otherName, metric, pairs, confidence, minEffect } = judged
  const named = (wanted: string | undefined) => plan.experiment.metadata.benchmark.find((each) => each.name === wanted)
  const [benchmark, other] = [named(name), named(otherName)]
  const recorded =
    benchmark === undefined
      ? undefined
      : other === undefined
        ? await recordedNoise(store, benchmark, metric)
        : await noiseBetween(store, [benchmark, other], metric)
  const counted =
    benchmark === undefined
      ? undefined
      : await tasksOfBoth(other === undefined ? [benchmark] : [benchmark, other], signal)
  const noise = recorded ?? (benchmark === undefined ? undefined : assumedNoise(benchmark, metric, counted))
  // Scores that are whole are judged over seeds alone.
  const tasks = noise?.isWhole === true ? null : (counted ?? recorded?.tasks ?? null)
  const known = {
    benchmark: name,
    baseline_benchmark: otherName,
    metric,
    pairs,
    tasks,
    confidence,
    power: usualPower,
    min_effect: minEffect,
    variances: noise?.variances ?? null,
    basis: noise === undefined ? null : basisOf(noise),
    largest: SHARES.test(metric) ? 1 : null,
  }
  if (noise === undefined) return { ...known, detects: null, detects_with_any_seeds: null, needed: null }
  const gap = Math.abs(minEffect)
  const effect = minEffect < 0 ? 0 : 2 * minEffect
  if (tasks === null) {
    const sd = Math.sqrt(noise.variances.seed)
    const beyond = pairs === 0 ? null : smallestDetectableEffect({ pairs, sd, confidence })
    const needed = gap > 0 ? { effect, pairs: pairsNeeded({ gap, sd, confidence }), tasks: null } : null
    return { ...known, detects: beyond === null ? null : minEffect + beyond, detects_with_any_seeds: null, needed }
  }
  const crossed = { variances: noise.variances, pairs, tasks, confidence }
  const beyond = crossedDetectable(crossed)
  const least = detectableBySeeds(crossed)
  return {
    ...known,
    detects: beyond === null ? null : minEffect + beyond,
    detects_with_any_seeds: Number.isFinite(least) ? minEffect + least : null,
    needed:
      gap > 0
        ? { effect, pairs: crossedPairsNeeded({ ...crossed, gap }), tasks: crossedTasksNeeded({ ...crossed, gap }) }
        : null,
  }
}

/** Of two benchmarks, as many tasks of each as would leave the difference as uncertain: their harmonic mean. */
async function tasksOfBoth(benchmarks: readonly Benchmark[], signal: AbortSignal): Promise<number | undefined> {
  const counts = await Promise.all(benchmarks.map((each) => tasksOf(each, signal)))
  const known = counts.flatMap((each) => each ?? [])
  if (known.length < counts.length) return undefined
  return Math.max(1, Math.round(known.length / known.reduce((sum, each) => sum + 1 / each, 0)))
}

async function tasksOf({ path, limit }: Benchmark, signal: AbortSignal): Promise<number | undefined> {
  if (path === undefined) return undefined
  const { tasks } = await readBenchmarkFolder(path, { signal })
  return Math.max(1, Math.min(tasks.length, limit ?? tasks.length))
}

interface AssumedNoise {
  readonly variances: DifferenceVariances
  readonly samples: number
  readonly isWhole: false
}

/**
 * Two independent right-or-wrong answers at a rate of one half. Half of their spread is taken to be the task's, the same under every seed,
 * and half that of single answers, which more samples make smaller. Training adds its own.
 */
function assumedNoise(
  { num_samples: samples }: Benchmark,
  metric: string,
  tasks: number | undefined,
): AssumedNoise | undefined {
  if (!SHARES.test(metric) || tasks === undefined) return undefined
  const half = bernoulliDifferenceSd({ tasks: 1 }) ** 2 / 2
  return { variances: { seed: 0, task: half, residual: half / samples }, samples, isWhole: false }
}

function basisOf(noise: RecordedNoise | AssumedNoise): PlanPower['basis'] {
  return 'samples' in noise
    ? { from: 'assumed', samples: noise.samples }
    : { from: 'record', experiments: noise.experiments }
}
