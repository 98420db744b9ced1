// What the controller and a scorer send each other.
import * as z from 'zod'
import { Benchmark, DataConfig, PluginType, Prediction, Scored, SealedTask } from '../../contracts/index.ts'

export const ScorerStart = z.strictObject({
  benchmark: Benchmark,
  source: z.union([
    z.strictObject({ folder: z.string() }),
    z.strictObject({ rows: z.array(z.record(z.string(), z.unknown())) }),
    z.strictObject({ data: DataConfig }),
  ]),
  project_dir: z.string(),
  plugins: z.array(z.strictObject({ type: PluginType, kind: z.string(), spec: z.string(), hash: z.string() })),
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
  answers_file: z
    .string()
    .optional()
    .describe('Where answers are written with what was asked, what was expected and the reward; absent: nowhere.'),
})
export type ToScorer = z.infer<typeof ToScorer>

export const scorerProtocol = {
  child: {
    /** Rejects with every fault of the benchmark. */
    open: { params: ScorerStart, result: z.strictObject({ hash: z.string(), tasks: z.array(SealedTask) }) },
    score: { params: ToScorer, result: Scored },
  },
  parent: {
    /** Of the models that judge: those of the named secrets that are set. */
    secrets: { params: z.array(z.string()), result: z.record(z.string(), z.string()), most: 1 },
    /** The answer that is at fault if the process ends now. */
    verifying: { params: Answer },
    /** What a person who waits should know, such as a judge that does not answer. */
    warned: { params: z.string() },
  },
} as const
