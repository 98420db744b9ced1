// Params that agents share: how the task is put, and limits that `runAgent` keeps for every agent which declares them.
import * as z from 'zod'

/** How the instruction becomes the first messages. */
export const promptParams = {
  system_prompt: z.string().optional().describe('Put before the task’s instruction.'),
  user_template: z.string().min(1).default('{prompt}').describe('Wraps the instruction: `{prompt}` is replaced.'),
}

/** Where an attempt ends. */
export function limitParams({ maxTurns }: { maxTurns: number }) {
  return {
    max_turns: z.int().min(1).max(100_000).default(maxTurns).describe('Most answers of the model in one attempt.'),
    max_total_tokens: z
      .int()
      .min(1)
      .optional()
      .describe('Most tokens that the model may draw in one attempt; absent: no limit.'),
    timeout_s: z
      .number()
      .positive()
      .max(86_400)
      .optional()
      .describe('Longest that one attempt may take; absent: no limit.'),
  }
}

/** The limits among the params of any agent. */
export const LimitParams = z.looseObject({
  max_turns: z.int().min(1).optional(),
  max_total_tokens: z.int().min(1).optional(),
  timeout_s: z.number().positive().optional(),
})
