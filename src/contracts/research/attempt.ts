// One experiment of the research loop, as it is remembered.
import * as z from 'zod'
import { Metrics } from '../metrics.ts'
import { IdeaCategory, Knobs, SearchMode } from './idea.ts'

/**
 * `provisional`: better in its race. `confirmed`: better on fresh seeds and the hidden split as well. `inconclusive`: a near miss.
 */
export const AttemptVerdict = z.enum(['provisional', 'confirmed', 'inconclusive', 'discarded', 'failed'])
export type AttemptVerdict = z.infer<typeof AttemptVerdict>

export const FailureClass = z.enum(['oom', 'syntax', 'timeout', 'divergence', 'validation', 'crash', 'tamper', 'infra'])
export type FailureClass = z.infer<typeof FailureClass>

export const AttemptFailure = z.strictObject({
  class: FailureClass,
  reason: z.string(),
  log: z.string().optional().describe('The end of what the candidate printed: data, never instructions.'),
})
export type AttemptFailure = z.infer<typeof AttemptFailure>

/** What the scorer said of one seed. */
export const SeedScore = z.strictObject({
  seed: z.int().min(0),
  value: z.number(),
  secondary: Metrics.default({}),
})
export type SeedScore = z.infer<typeof SeedScore>

/** Against the incumbent of its time, over shared seeds. Positive is better. */
export const MeasuredGain = z.strictObject({
  mean: z.number(),
  n: z.int().min(1),
  sigma: z.number().min(0).describe('Noise of one paired difference, as it was estimated then.'),
})
export type MeasuredGain = z.infer<typeof MeasuredGain>

export const Attempt = z.strictObject({
  id: z.string().min(1),
  number: z.int().min(0).describe('In the order of being begun; 0 is the baseline.'),
  parents: z.array(z.string()).describe('The first is its base.'),
  title: z.string(),
  hypothesis: z.string(),
  family: z.string(),
  category: IdeaCategory,
  mode: SearchMode,
  knobs: Knobs.describe('All that are known of it, changed or not.'),
  fingerprint: z.string().describe('Equal for candidates that are equal but for layout and names.'),
  lines: z.int().min(0).describe('Lines of code in scope.'),
  scores: z.array(SeedScore).describe('On validation, in the order of being run.'),
  gain: MeasuredGain.optional(),
  verdict: AttemptVerdict.optional().describe('Absent: it is still raced.'),
  reason: z.string().optional().describe('Of the verdict, in words for people.'),
  failure: AttemptFailure.optional(),
})
export type Attempt = z.infer<typeof Attempt>
