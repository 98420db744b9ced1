// What is told beside a score that a model gave: what judging took, and how far the judge can be trusted.
import * as z from 'zod'

const Share = z.tuple([z.number(), z.number()])

/** What judging by a model took, and how well the judge agrees with people. */
export const JudgeReport = z.strictObject({
  calls: z.int().min(0),
  replayed: z.int().min(0).describe('Questions whose verdict was kept from before.'),
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  cost_usd: z.number().min(0).nullable().describe('Null: the price of a call is not known.'),
  calibration: z
    .strictObject({
      n: z.int().min(1).describe('Labels of people.'),
      agreement: z.number(),
      agreement_ci: Share,
      kappa: z.number().nullable().describe('Null: one of the two always says the same.'),
      kappa_ci: Share.nullable(),
    })
    .optional()
    .describe('Absent: the benchmark has no judge-labels.jsonl.'),
})
export type JudgeReport = z.infer<typeof JudgeReport>
