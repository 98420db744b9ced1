// Quantities with units, as people write them: `30m`, `1h30m`, 90. Parsed once, in seconds inside.
import * as z from 'zod'

const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/

/** Seconds as a number, or text such as `90s`, `30m`, `1h30m`, `2d`. */
export const Duration = z
  .union([
    z.number().positive(),
    z.string().regex(DURATION, 'a duration is seconds, or text such as 90s, 30m, 1h30m, 2d'),
  ])
  .describe('Seconds, or text such as `90s`, `30m`, `1h30m`, `2d`.')
export type Duration = z.infer<typeof Duration>

/** Length of a valid Duration in seconds. */
export function durationSeconds(duration: Duration): number {
  if (typeof duration === 'number') return duration
  let total = 0
  for (const [, amount, unit] of duration.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)) {
    total += Number(amount) * SECONDS[unit as keyof typeof SECONDS] // the pattern admits these units alone
  }
  return total
}

/** Caps on what an experiment, a run or a session may spend. Reaching one is a hard stop. */
export const Budget = z.strictObject({
  steps: z.int().positive().optional().describe('Training steps over all runs.'),
  tokens: z.int().positive().optional().describe('Tokens trained on and sampled, over all runs.'),
  usd: z.number().positive().optional().describe('US dollars over all runs.'),
  wall: Duration.optional().describe('Wall-clock time of the whole experiment.'),
  gpu_seconds: z.number().positive().optional().describe('Accelerator seconds over all runs.'),
})
export type Budget = z.infer<typeof Budget>
