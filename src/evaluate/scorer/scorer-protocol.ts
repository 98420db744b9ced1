// What the controller and a scorer tell each other.
import * as z from 'zod'
import {
  Benchmark,
  DataConfig,
  ErrorRecord,
  PluginType,
  Prediction,
  Scored,
  SealedTask,
} from '../../contracts/index.ts'

/** The first message to a scorer. */
export const ScorerStart = z.strictObject({
  benchmark: Benchmark,
  source: z.union([
    z.strictObject({ folder: z.string() }),
    z.strictObject({ rows: z.array(z.record(z.string(), z.unknown())) }),
    z.strictObject({ data: DataConfig }),
  ]),
  project_dir: z.string(),
  plugins: z.array(z.strictObject({ type: PluginType, kind: z.string(), spec: z.string() })),
  secrets: z.record(z.string(), z.string()),
  verifier_ms: z.number().positive(),
  verdicts_dir: z.string().describe('Where the verdicts of judges are kept.'),
})
export type ScorerStart = z.infer<typeof ScorerStart>

const Answer = z.strictObject({ task_id: z.string(), sample: z.int() })

export const ToScorer = z.strictObject({
  predictions: z.array(Prediction),
  excluded: z.array(Answer.extend({ reason: z.string() })).describe('Answers that are not verified.'),
  limit: z.int().min(1).describe('Verifications at a time.'),
  rewards: z
    .array(Answer.extend({ reward: z.number().nullable(), reason: z.string().optional() }))
    .optional()
    .describe('What the tests of task folders gave, by the controller, which ran them; null: nothing, and why.'),
})
export type ToScorer = z.infer<typeof ToScorer>

/** The answer to `needs`: those that are set. */
export const ScorerSecrets = z.strictObject({ secrets: z.record(z.string(), z.string()) })
export type ScorerSecrets = z.infer<typeof ScorerSecrets>

export const FromScorer = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('needs'), secrets: z.array(z.string()) })
    .describe('Secrets of the models that judge. It waits for them.'),
  z.strictObject({ type: z.literal('ready'), hash: z.string(), tasks: z.array(SealedTask) }),
  Answer.extend({ type: z.literal('verifying') }).describe('The answer that is at fault if the process ends now.'),
  z.strictObject({ type: z.literal('scored'), scored: Scored }),
  z.strictObject({
    type: z.literal('failed'),
    problems: z.array(ErrorRecord).min(1).describe('Why it cannot be opened, or why these predictions have no score.'),
  }),
])
export type FromScorer = z.infer<typeof FromScorer>
