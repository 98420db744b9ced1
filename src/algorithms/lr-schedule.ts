// The learning rate as a pure function of the step.
import * as z from 'zod'

export const LrSchedule = z.enum(['constant', 'linear_warmup', 'linear_decay', 'cosine', 'cosine_with_warmup'])
export type LrSchedule = z.infer<typeof LrSchedule>

export interface LrPlan {
  readonly schedule: LrSchedule
  /** The peak. */
  readonly learningRate: number
  readonly numSteps: number
  readonly warmupSteps: number
  /** Decay ends at this share of the peak. */
  readonly minRatio: number
}

/**
 * The learning rate of a 0-based step. Warm-up rises to the peak over the first steps, the first of which is already above 0;
 * decay reaches its end exactly in the last step. `constant` and `cosine` have no warm-up.
 */
export function learningRateAt(step: number, plan: LrPlan): number {
  const { schedule, learningRate: peak, numSteps } = plan
  const hasWarmup = schedule !== 'constant' && schedule !== 'cosine'
  const warmup = hasWarmup ? Math.min(plan.warmupSteps, numSteps) : 0
  if (step < warmup) return peak * ((step + 1) / warmup)
  if (schedule === 'constant' || schedule === 'linear_warmup') return peak
  const progress = Math.min(1, (step - warmup) / Math.max(1, numSteps - warmup - 1))
  const left = schedule === 'linear_decay' ? 1 - progress : 0.5 * (1 + cosPi(progress))
  // Written so that both ends are exact: the peak where all is left, its share where nothing is.
  return Math.min(peak, peak * left + peak * plan.minRatio * (1 - left))
}

/**
 * cos(pi t) for t in [0, 1]. Not Math.cos, which differs in its last bit between versions of Node: a run must repeat.
 * Taylor series on [0, 1/2], where twelve terms are exact to the last bits; the other half by symmetry.
 */
function cosPi(t: number): number {
  if (t > 0.5) return -cosPi(1 - t)
  if (t === 0.5) return 0
  const x = Math.PI * t * (Math.PI * t)
  let sum = 0
  for (let n = 22; n >= 2; n -= 2) sum = ((1 - sum) * x) / (n * (n - 1))
  return 1 - sum
}
