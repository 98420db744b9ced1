// What the executor and the process of a sealed scorer send each other.
import * as z from 'zod'

/** What to score, and by which scorer. */
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

/** Also one that is not finite. */
export const AnyNumber = z.custom<number>((value) => typeof value === 'number')

/** Outcome of each item, in the order of the split; `fresh`: every seed draws new ones. */
export const AnyItems = z.array(AnyNumber).or(z.literal('fresh'))

const Scored = z.strictObject({
  value: AnyNumber,
  secondary: z.record(z.string(), AnyNumber),
  items: AnyItems.optional(),
})
const NotScored = z.strictObject({
  whose: z.enum(['candidate', 'scorer']).describe('`candidate`: what it left or answered cannot be scored.'),
  message: z.string(),
})

export const scorerProtocol = {
  child: { score: { params: ScorerStart, result: z.union([Scored, NotScored]) } },
  parent: {
    /** It begins to read a file that the candidate left. */
    read: { params: z.null() },
    /** An answer is JSON as the candidate wrote it: what stands in it means nothing to the pipe. */
    ask: { params: z.unknown(), result: z.string() },
  },
} as const
