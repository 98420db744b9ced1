// A step's metrics as one line for people.
import type { Metrics, StepScope } from '../../contracts/index.ts'

export function metricsLine({ step, numSteps, run }: StepScope, metrics: Metrics, keys?: readonly string[]): string {
  const chosen = Object.entries(metrics).filter(([key]) => keys === undefined || keys.includes(key))
  const values = chosen.map(([key, value]) => `${key} ${Number(value.toPrecision(5))}`)
  return `${run?.name ?? 'run'}  step ${step + 1}/${numSteps}  ${values.join('  ')}`
}
