// What the executor and the process of a sealed scorer tell each other.
import * as z from 'zod'

/** The first message to it. */
export const ScorerStart = z.strictObject({
  scorer: z.string().describe('Module of the scorer.'),
  hash: z.string().describe('Of that file: another one is not loaded.'),
  metric: z.string(),
  split: z.enum(['val', 'test']),
  data_dir: z.string(),
  out_dir: z.string().describe('What the candidate left.'),
  checkpoint_bytes: z.number().positive().describe('Most that is read of one file of it.'),
  engine: z.string().optional().describe('Module of the embedded engine.'),
  seed: z.int(),
})
export type ScorerStart = z.infer<typeof ScorerStart>

/** An answer is JSON as the candidate wrote it: what stands in it means nothing to the pipe. */
export const ToScorer = z.strictObject({ ask: z.int(), answer: z.string() })
export type ToScorer = z.infer<typeof ToScorer>

/** Also one that is not finite. */
export const AnyNumber = z.custom<number>((value) => typeof value === 'number')

export const FromScorer = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('read') }).describe('It begins to read a file that the candidate left.'),
  z.strictObject({ type: z.literal('ask'), ask: z.int(), question: z.unknown() }),
  z.strictObject({
    type: z.literal('scored'),
    value: AnyNumber,
    secondary: z.record(z.string(), AnyNumber),
  }),
  z
    .strictObject({
      type: z.literal('failed'),
      whose: z.enum(['candidate', 'scorer']).describe('`candidate`: what it left or answered cannot be scored.'),
      message: z.string(),
    })
    .describe('Why there is no score.'),
])
export type FromScorer = z.infer<typeof FromScorer>
