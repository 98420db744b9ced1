// When a run is saved.
import type { SharedParams } from './shared-params.ts'

/**
 * Numbers of finished steps after which a checkpoint is due, in order: every multiple of `save_every`, or exactly the rounded
 * shares of `save_at_fractions`. The end of the run is saved by the loop in any case.
 */
export function saveMarks(
  numSteps: number,
  { save_every, save_at_fractions }: Pick<SharedParams, 'save_every' | 'save_at_fractions'>,
): number[] {
  if (save_every > 0) {
    return Array.from({ length: Math.floor(numSteps / save_every) }, (_, index) => (index + 1) * save_every)
  }
  const marks = save_at_fractions.map((fraction) => Math.max(1, Math.round(fraction * numSteps)))
  return [...new Set(marks)].sort((a, b) => a - b)
}
