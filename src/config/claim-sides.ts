// Sides of a claim that name a benchmark, `ARM@BENCHMARK`: how an arm does on other tasks, such as newer ones.
import { type Benchmark, type Claim, metricNamed, metricSpec } from '../contracts/index.ts'
import { canonicalJson, suggest } from '../kernel/index.ts'
import { type LocatedMap, nodeAt, type Path } from './located.ts'
import type { Report } from './report.ts'

interface SideContext {
  readonly root: LocatedMap
  readonly at: Path
  readonly benchmarks: readonly Benchmark[]
  /** Names of arms, and base_model: what is called so names no benchmark. */
  readonly names: readonly string[]
  readonly report: Report
}

export interface PlacedClaim {
  /** The arms, without their benchmarks. */
  readonly claim: Claim
  readonly treatment: Benchmark
  readonly baseline: Benchmark
}

const sides = ['treatment', 'baseline'] as const

/** The claim with the benchmarks of its sides; `unplaced` where they name none, undefined when the report says what is wrong. */
export function placeSides(claim: Claim, context: SideContext): PlacedClaim | 'unplaced' | undefined {
  const { root, at, benchmarks, names, report } = context
  const isPlaced = (ref: unknown): ref is string =>
    typeof ref === 'string' && !names.includes(ref) && ref.lastIndexOf('@') > 0
  const placed = sides.filter((side) => isPlaced(claim[side]))
  if (placed.length === 0) return 'unplaced'
  const complain = (message: string, fix: string, ...key: string[]) =>
    report.problem((nodeAt(root, [...at, ...key]) ?? nodeAt(root, at))?.origin ?? root.origin, {
      code: 'CONFIG_CLAIM',
      message,
      fix,
    })
  const [only] = placed
  if (placed.length === 1 && only !== undefined) {
    const other = only === 'treatment' ? 'baseline' : 'treatment'
    const message = `the ${only} names a benchmark, the ${other} does not`
    return complain(message, 'write ARM@BENCHMARK on both sides, or on none of them.', other)
  }
  const found = sides.map((side) => {
    const ref = claim[side]
    const text = typeof ref === 'string' ? ref : ''
    // Names may hold @, so the longest one that fits is the one that is meant.
    const benchmark = benchmarks
      .filter(({ name }) => text.endsWith(`@${name}`))
      .sort((a, b) => b.name.length - a.name.length)[0]
    if (benchmark !== undefined) return { arm: text.slice(0, -benchmark.name.length - 1), benchmark }
    const name = text.slice(text.lastIndexOf('@') + 1)
    return complain(
      `no benchmark is called ${JSON.stringify(name)}`,
      suggest(
        name,
        benchmarks.map((each) => each.name),
      ),
      side,
    )
  })
  const [treatment, baseline] = found
  if (treatment === undefined || baseline === undefined) return undefined
  if (treatment.arm === baseline.arm && treatment.benchmark === baseline.benchmark) {
    const fix = 'name another benchmark, or another arm, on one of them.'
    return complain(`both sides mean ${JSON.stringify(claim.treatment)}`, fix)
  }
  return {
    claim: { ...claim, treatment: treatment.arm, baseline: baseline.arm },
    treatment: treatment.benchmark,
    baseline: baseline.benchmark,
  }
}

/** The metric that both benchmarks have, under the name that the claim or the objective gives it. */
export function sharedMetric(
  { claim, treatment, baseline }: PlacedClaim,
  fallback: string | undefined,
  { root, at, report }: Pick<SideContext, 'root' | 'at' | 'report'>,
): string | undefined {
  const complain = (message: string, fix: string) =>
    report.problem((nodeAt(root, [...at, 'metric']) ?? nodeAt(root, at))?.origin ?? root.origin, {
      code: 'CONFIG_CLAIM',
      message,
      fix,
    })
  const metric = claim.metric ?? fallback
  if (metric === undefined) {
    const message = 'the claim has no metric, and there is no objective to take it from'
    return complain(message, 'add claim.metric, or metadata.objective.')
  }
  const both = treatment === baseline ? [treatment] : [treatment, baseline]
  const entries = both.map(({ metrics }) => metricNamed(metrics, metric))
  const lacking = both.find((_, i) => entries[i] === undefined)
  if (lacking !== undefined) {
    const named = both.find(({ name }) => metric.startsWith(`${name}.`))
    const fix =
      named === undefined
        ? `add ${metric} to its metrics, or name one that both have: ${sharedNames(both)}.`
        : `the sides name the benchmarks: write ${metric.slice(named.name.length + 1)}.`
    return complain(`the benchmark ${JSON.stringify(lacking.name)} has no metric ${JSON.stringify(metric)}`, fix)
  }
  if (new Set(entries.map((each) => canonicalJson([each?.kind, each?.params]))).size > 1) {
    const message = `${metric} of ${treatment.name} is not the ${metric} of ${baseline.name}: kind or params differ`
    return complain(message, 'write the metric alike in both benchmarks.')
  }
  return metric
}

function sharedNames([first, second]: readonly Benchmark[]): string {
  const names = first?.metrics.map((each) => metricSpec(each).name) ?? []
  const shared = names.filter((name) => second === undefined || metricNamed(second.metrics, name) !== undefined)
  return shared.length === 0 ? 'there is none yet' : shared.join(', ')
}
