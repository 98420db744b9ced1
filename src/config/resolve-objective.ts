// What ranks the arms. A validation benchmark selects; a test benchmark only confirms, so an objective on it is an error.
// Where only test is declared nothing is selected: scores are reported, and a notice says so.
import type { Benchmark, Objective, ResolvedObjective } from '../contracts/index.ts'
import { type LocatedMap, nodeAt } from './located.ts'
import type { Report } from './report.ts'
import { resolveMetric } from './resolve-metric.ts'

/** The benchmark and metric of the objective; undefined where nothing is selected. */
export function resolveObjective(
  root: LocatedMap,
  objective: Objective | undefined,
  benchmarks: readonly Benchmark[],
  report: Report,
): ResolvedObjective | undefined {
  if (objective === undefined) return undefined
  const origin = nodeAt(root, ['metadata', 'objective', 'metric'])?.origin ?? root.origin
  const found = resolveMetric(objective.metric, benchmarks)
  if ('message' in found) {
    report.problem(origin, { code: 'CONFIG_OBJECTIVE', ...found })
    return undefined
  }
  const { benchmark, metric } = found
  if (benchmark.split === 'val') return { benchmark: benchmark.name, metric, direction: objective.direction ?? 'max' }
  const selecting = benchmarks.filter(({ split }) => split === 'val')
  if (selecting.length === 0) {
    report.notice('Only test benchmarks are declared: scores are reported, nothing is selected by them.', origin)
    return undefined
  }
  const names = selecting.map(({ name }) => `${name}.${metric}`).join(', ')
  const message = `${benchmark.name} is a test benchmark: test confirms, validation selects`
  report.problem(origin, { code: 'CONFIG_OBJECTIVE', message, fix: `select on validation, such as ${names}.` })
  return undefined
}
