// What every step-by-step recipe takes: optimiser, length, checkpoints. A recipe adds its own:
// `z.strictObject({ ...sharedParams, gamma: z.number().default(2) })`. The loop reads these, the recipe need not.
import * as z from 'zod'
import { PluginSpec } from '../contracts/index.ts'
import { LrSchedule } from './lr-schedule.ts'

/** Fields of a params schema that the training loop understands. */
export const sharedParams = {
  learning_rate: z.number().min(0).default(1e-4).describe('Peak learning rate.'),
  num_epochs: z.int().min(1).default(1).describe('Passes over the data. Ignored when max_steps is set.'),
  batch_size: z.int().min(1).default(4).describe('Rows per batch.'),
  gradient_accumulation_steps: z
    .int()
    .min(1)
    .max(10_000)
    .default(1)
    .describe('Batches per step: their gradients add up before the update.'),
  max_steps: z.int().min(1).optional().describe('Training steps. Absent: as many as num_epochs needs.'),
  lora_rank: z.int().min(0).max(4096).default(8).describe('Rank of the trained adapter; 0 trains all weights.'),
  renderer_name: z.string().min(1).optional().describe('Chat renderer; wins over model.renderer_name.'),
  enable_thinking: z.boolean().optional().describe('Passed to the model’s chat template.'),
  save_every: z.int().min(0).default(0).describe('Checkpoint after every N steps; 0: at save_at_fractions.'),
  save_at_fractions: z
    .array(z.number().gt(0).max(1))
    .min(1)
    .default([1])
    .describe('Checkpoints at these shares of the run, when save_every is 0.'),
  save_sampler: z.boolean().default(true).describe('Checkpoints also hold weights to sample from.'),
  callbacks: z.array(PluginSpec).default([]).describe('Callbacks of this run’s loop alone, such as early_stopping.'),
  adam_beta1: z.number().min(0).lt(1).default(0.9).describe('Adam: decay of the mean of gradients.'),
  adam_beta2: z.number().min(0).lt(1).default(0.95).describe('Adam: decay of the mean of squared gradients.'),
  adam_eps: z.number().gt(0).default(1e-8).describe('Adam: added to the denominator.'),
  weight_decay: z.number().min(0).default(0).describe('Decoupled weight decay (AdamW); 0: none.'),
  grad_clip_norm: z.number().min(0).default(0).describe('Largest norm of the gradient; 0: not clipped.'),
  lr_schedule: LrSchedule.default('constant').describe('How the learning rate moves over the run.'),
  lr_warmup_steps: z
    .int()
    .min(0)
    .default(0)
    .describe('Steps over which the rate rises; used by linear_warmup, linear_decay and cosine_with_warmup.'),
  lr_min_ratio: z.number().min(0).max(1).default(0).describe('Where decay ends, as a share of learning_rate.'),
}

/** The shared params of any recipe; its other params are dropped. */
export const SharedParams = z.object(sharedParams)
export type SharedParams = z.infer<typeof SharedParams>
