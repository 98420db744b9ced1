// What is known of a training run after the process that held its weights.
import * as z from 'zod'

export const RunRecord = z.object({
  version: z.literal(1),
  /** The id of the model in training. */
  run_id: z.string(),
  session_id: z.string(),
  base_model: z.string(),
  engine_id: z.string(),
  created_ms: z.number(),
  /** Absent: all weights are trained. */
  lora: z
    .object({
      rank: z.int(),
      seed: z.number(),
      train_unembed: z.boolean(),
      train_mlp: z.boolean(),
      train_attn: z.boolean(),
    })
    .optional(),
  user_metadata: z.record(z.string(), z.string()),
})
export type RunRecord = z.infer<typeof RunRecord>
