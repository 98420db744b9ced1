// What a guard of a run found, what was done about it, and how people are told.
import * as z from 'zod'

/** What went wrong: with the loss of a step, or with a policy that trains on its own answers. */
export const GuardReason = z.enum([
  'nan',
  'spike',
  'entropy_collapse',
  'kl_blowup',
  'reward_hacking',
  'length_explosion',
])
export type GuardReason = z.infer<typeof GuardReason>

/** What was done: told and nothing else, back to a checkpoint at a lower rate, or the end of the run. */
export const GuardAction = z.enum(['record', 'roll_back', 'stop'])
export type GuardAction = z.infer<typeof GuardAction>

/** A trip that still stands: no later attempt has taken its step back. */
export const GuardTrip = z.strictObject({
  step: z.int().min(0),
  reason: GuardReason,
  action: GuardAction,
  rolled_back_to: z.int().min(0).optional().describe('Absent where it rolled back: to the start of the run.'),
  text: z.string().optional().describe('The numbers that it looked at, in words.'),
})
export type GuardTrip = z.infer<typeof GuardTrip>

/** A trip and the run that it happened in. */
export const RunTrip = GuardTrip.extend({ run: z.string() })
export type RunTrip = z.infer<typeof RunTrip>

const words: Readonly<Record<GuardReason, string>> = {
  nan: 'the loss was no number',
  spike: 'the loss was far above that of the steps before',
  entropy_collapse: 'the entropy of the policy collapsed',
  kl_blowup: 'the policy moved too far',
  reward_hacking: 'the reward rose while the held-out verifier fell',
  length_explosion: 'answers became far longer',
}

/** A trip as people read it. Steps are counted from 1. */
export function tripText({ step, reason, action, rolled_back_to, text }: GuardTrip): string {
  const what = text ?? words[reason]
  const back = rolled_back_to === undefined ? 'the start' : `step ${rolled_back_to + 1}`
  const done = {
    record: 'training went on',
    roll_back: `it went on from ${back} at half the rate`,
    stop: rolled_back_to === undefined ? 'the run was ended' : `the run was ended with the weights of ${back}`,
  }[action]
  return `${reason.replaceAll('_', ' ')} at step ${step + 1}: ${what}; ${done}`
}
