// Metrics of the parts of a batch as those of the whole. A key ends with how it is reduced: `loss:sum`.
import type { Metrics } from '../contracts/index.ts'

export type PartMetrics = { readonly metrics: Metrics; readonly datums: number }

/** Keys that some part lacks, and reductions that are not known, are left out. One part keeps all of its keys. */
export function reduceMetrics(parts: readonly PartMetrics[]): Metrics {
  const [first] = parts
  if (first === undefined) return {}
  if (parts.length === 1) return { ...first.metrics }
  const reduced: [string, number][] = []
  for (const key of Object.keys(first.metrics)) {
    const values = parts.flatMap(({ metrics }) => (Object.hasOwn(metrics, key) ? [metrics[key] ?? 0] : []))
    if (values.length < parts.length) continue
    const reduction = key.slice(key.indexOf(':') + 1)
    if (reduction === 'unique') {
      reduced.push(...values.map((value, index): [string, number] => [index === 0 ? key : `${key}_${index}`, value]))
      continue
    }
    const value = reduce(reduction, values, parts)
    if (value !== undefined) reduced.push([key, value])
  }
  return Object.fromEntries(reduced)
}

function reduce(reduction: string, values: readonly number[], parts: readonly PartMetrics[]): number | undefined {
  switch (reduction) {
    case 'mean':
      return mean(values, parts)
    case 'slack':
      return Math.max(...values) - mean(values, parts)
    case 'sum':
      return values.reduce((sum, value) => sum + value, 0)
    case 'min':
      return Math.min(...values)
    case 'max':
      return Math.max(...values)
    case 'hash_unordered':
    case 'hash2':
      return Number(
        BigInt.asUintN(
          64,
          values.reduce((sum, value) => sum + BigInt(Math.trunc(value)), 0n),
        ),
      )
    default:
      return undefined
  }
}

function mean(values: readonly number[], parts: readonly PartMetrics[]): number {
  const weights = parts.map(({ datums }) => datums)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return values.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0) / total
}
