// What other rooms may use of the lab.
export { builtins } from './builtins.ts'

/** Experiments and their record. Imported on demand: most commands need neither a database nor statistics. */
export function loadLab(): Promise<typeof import('./record/index.ts')> {
  return import('./record/index.ts')
}
export type { ReproductionCheck } from './record/check-reproduction.ts'
export type { Comparison } from './record/compare-experiments.ts'
export type { PlanForecast } from './record/plan-forecast.ts'
export type { PlanPower } from './record/plan-power.ts'
export type { Standing } from './record/standing.ts'
