// Which benchmark and metric a reference means: `<benchmark>.<metric>`, or a bare metric of the benchmark that selects. Names may
// hold dots, so the longest benchmark name that fits is the one that is meant.
import type { Benchmark } from '../contracts/index.ts'
import { suggest } from '../kernel/index.ts'

export interface MetricOf {
  readonly benchmark: Benchmark
  readonly metric: string
}

export type ResolvedMetric = MetricOf | { readonly message: string; readonly fix: string }

/** The metric that `reference` means. A bare one is looked for in the val split, then, with no val benchmark, in test. */
export function resolveMetric(reference: string, benchmarks: readonly Benchmark[]): ResolvedMetric {
  const declared = benchmarks.flatMap(({ name, metrics }) => metrics.map((metric) => `${name}.${metric}`))
  if (benchmarks.length === 0) {
    const fix = 'add metadata.benchmark with a validation benchmark that has this metric.'
    return { message: `no benchmark is declared that could give ${JSON.stringify(reference)}`, fix }
  }
  const named = benchmarks
    .filter(({ name }) => reference.startsWith(`${name}.`))
    .sort((a, b) => b.name.length - a.name.length)
  for (const benchmark of named) {
    const metric = reference.slice(benchmark.name.length + 1)
    if (benchmark.metrics.includes(metric)) return { benchmark, metric }
  }
  const selecting = benchmarks.filter(({ split }) => split === 'val')
  const candidates = selecting.length > 0 ? selecting : benchmarks
  const bare = candidates.find(({ metrics }) => metrics.includes(reference))
  if (bare !== undefined) return { benchmark: bare, metric: reference }
  const [nearest] = named
  if (nearest !== undefined) {
    const metric = reference.slice(nearest.name.length + 1)
    const message = `the benchmark ${JSON.stringify(nearest.name)} has no metric ${JSON.stringify(metric)}`
    return { message, fix: suggest(metric, nearest.metrics, { more: 'Its `metrics` list what it measures.' }) }
  }
  const onTest = benchmarks.find(({ metrics }) => metrics.includes(reference))
  if (onTest !== undefined) {
    const message = `only the test benchmark ${JSON.stringify(onTest.name)} has the metric ${JSON.stringify(reference)}`
    return { message, fix: `add ${reference} to the metrics of a validation benchmark.` }
  }
  return { message: `no benchmark declares ${JSON.stringify(reference)}`, fix: suggest(reference, declared) }
}
