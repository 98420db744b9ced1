// What every step-by-step recipe takes: optimiser, length, checkpoints. A recipe adds its own:
// `z.strictObject({ ...sharedParams, gamma: z.number().default(2) })`. The loop reads these, the recipe need not.
import * as z from 'zod'
import { pluginReference } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

// The numbers and texts that params are made of.
export const count = z.int().min(1)
export const wholeNumber = z.int().min(0)
export const share = z.number().min(0).max(1)
export const positive = z.number().gt(0)
export const nonNegative = z.number().min(0)
export const nonEmpty = z.string().min(1)

/** Params that several recipes take. */
export const maxSeqLen = z
  .int()
  .min(2)
  .default(2048)
  .describe('Longest conversation, in tokens; what is longer loses its end.')
  .meta({ search: { off: 'it says what a training costs: name it in `space`' } })
/** In which order an epoch goes through the rows. */
export const RowOrder = z.enum(['shuffled', 'given'])
export type RowOrder = z.infer<typeof RowOrder>
export const topTokens = z.union([count.max(10_000), z.literal('full')])

// The learning rate as a pure function of the step.
export const LrSchedule = z.enum(['constant', 'linear_warmup', 'linear_decay', 'cosine', 'cosine_with_warmup'])
export type LrSchedule = z.infer<typeof LrSchedule>

export interface LrPlan {
  readonly schedule: LrSchedule
  /** The peak. */
  readonly learningRate: number
  readonly numSteps: number
  readonly warmupSteps: number
  /** Decay ends at this share of the peak. */
  readonly minRatio: number
}

/**
 * The learning rate of a 0-based step. Warm-up rises to the peak over the first steps, the first of which is already above 0;
 * decay reaches its end exactly in the last step. `constant` and `cosine` have no warm-up.
 */
export function learningRateAt(step: number, plan: LrPlan): number {
  const { schedule, learningRate: peak, numSteps } = plan
  const hasWarmup = schedule !== 'constant' && schedule !== 'cosine'
  const warmup = hasWarmup ? Math.min(plan.warmupSteps, numSteps) : 0
  if (step < warmup) return peak * ((step + 1) / warmup)
  if (schedule === 'constant' || schedule === 'linear_warmup') return peak
  const progress = Math.min(1, (step - warmup) / Math.max(1, numSteps - warmup - 1))
  const left = schedule === 'linear_decay' ? 1 - progress : 0.5 * (1 + cosPi(progress))
  // Written so that both ends are exact: the peak where all is left, its share where nothing is.
  return Math.min(peak, peak * left + peak * plan.minRatio * (1 - left))
}

/**
 * cos(pi t) for t in [0, 1]. Not Math.cos, which differs in its last bit between versions of Node: a run must repeat.
 * Taylor series on [0, 1/2], where twelve terms are exact to the last bits; the other half by symmetry.
 */
function cosPi(t: number): number {
  if (t > 0.5) return -cosPi(1 - t)
  if (t === 0.5) return 0
  const x = Math.PI * t * (Math.PI * t)
  let sum = 0
  for (let n = 22; n >= 2; n -= 2) sum = ((1 - sum) * x) / (n * (n - 1))
  return 1 - sum
}

// What research over an experiment may try of a param.
const searchedRate = { search: { from: 1e-5, to: 1e-2, scale: 'log', area: 'optimizer' } }
const lengthIsCost = { search: { off: 'it says what a training costs: name it in `space`' } }
/** Of params that change how a run is carried out, not what it learns. */
export const noRecipe = { search: { off: 'it changes nothing that is learnt' } }

/** Fields of a params schema that the training loop understands. */
export const sharedParams = {
  learning_rate: nonNegative.default(1e-4).describe('Peak learning rate.').meta(searchedRate),
  num_epochs: count.default(1).describe('Passes over the data. Ignored when max_steps is set.').meta(lengthIsCost),
  batch_size: count
    .default(4)
    .describe('Rows per batch.')
    .meta({ search: { values: [4, 8, 16, 32, 64], area: 'optimizer' } }),
  gradient_accumulation_steps: count
    .max(10_000)
    .default(1)
    .describe('Batches per step: their gradients add up before the update.')
    .meta({ search: { off: 'batch_size does the same' } }),
  max_steps: count.optional().describe('Training steps. Absent: as many as num_epochs needs.').meta(lengthIsCost),
  lora_rank: wholeNumber
    .max(4096)
    .default(8)
    .describe('Rank of the trained adapter; 0 trains all weights.')
    .meta({ search: { values: [4, 8, 16, 32], area: 'adapter' } }),
  renderer_name: pluginReference('renderer', nonEmpty)
    .optional()
    .describe('Chat renderer; wins over model.renderer_name.'),
  save_every: wholeNumber
    .default(0)
    .describe('Checkpoint after every N steps; 0: at save_at_fractions.')
    .meta(noRecipe),
  save_at_fractions: z
    .array(positive.max(1))
    .min(1)
    .default([1])
    .describe('Checkpoints at these shares of the run, when save_every is 0.'),
  save_sampler: z.boolean().default(true).describe('Checkpoints also hold weights to sample from.').meta(noRecipe),
  callbacks: z
    .array(pluginReference('callback'))
    .default([])
    .describe('Callbacks of this run’s loop alone, such as early_stopping.'),
  adam_beta1: nonNegative
    .lt(1)
    .default(0.9)
    .describe('Adam: decay of the mean of gradients.')
    .meta({ search: { values: [0.8, 0.9, 0.95], area: 'optimizer' } }),
  adam_beta2: nonNegative
    .lt(1)
    .default(0.95)
    .describe('Adam: decay of the mean of squared gradients.')
    .meta({ search: { values: [0.9, 0.95, 0.98, 0.999], area: 'optimizer' } }),
  adam_eps: positive
    .default(1e-8)
    .describe('Adam: added to the denominator.')
    .meta({ search: { off: 'it hardly ever matters' } }),
  weight_decay: nonNegative
    .default(0)
    .describe('Decoupled weight decay (AdamW); 0: none.')
    .meta({ search: { values: [0, 0.001, 0.01, 0.1], area: 'optimizer' } }),
  grad_clip_norm: nonNegative
    .default(0)
    .describe('Largest norm of the gradient; 0: not clipped.')
    .meta({ search: { values: [0, 0.3, 1, 3], area: 'optimizer' } }),
  lr_schedule: LrSchedule.default('constant')
    .describe('How the learning rate moves over the run.')
    .meta({ search: { area: 'optimizer' } }),
  lr_warmup_steps: wholeNumber
    .default(0)
    .describe('Steps over which the rate rises; used by linear_warmup, linear_decay and cosine_with_warmup.')
    .meta({
      search: {
        values: [0, 5, 10, 20, 50],
        when: { lr_schedule: ['linear_warmup', 'linear_decay', 'cosine_with_warmup'] },
        area: 'optimizer',
      },
    }),
  lr_min_ratio: share
    .default(0)
    .describe('Where decay ends, as a share of learning_rate.')
    .meta({
      search: {
        from: 0,
        to: 0.3,
        when: { lr_schedule: ['linear_decay', 'cosine', 'cosine_with_warmup'] },
        area: 'optimizer',
      },
    }),
  row_order: RowOrder.default('shuffled')
    .describe('shuffled: another random order in each epoch; given: the order of the data, in each epoch again.')
    .meta({ search: { off: 'it goes with a transform that sorts: `order_rows` sets both' } }),
}

/** The shared params of any recipe; its other params are dropped. */
export const SharedParams = z.object(sharedParams)
export type SharedParams = z.infer<typeof SharedParams>

// How long a run is.
/** Training steps: `max_steps`, or whole batches per epoch times epochs. Rows that fill no step wait for the next epoch. */
export function numSteps(
  rows: number,
  params: Pick<SharedParams, 'max_steps' | 'num_epochs' | 'batch_size'> & Partial<SharedParams>,
): number {
  const { max_steps, num_epochs, batch_size, gradient_accumulation_steps = 1 } = params
  if (rows <= 0) {
    throw new EvsysError('DATA_INVALID', 'there is no row to train on', {
      fix: 'check the data file, and whether a transform drops every row.',
    })
  }
  return max_steps ?? num_epochs * stepsPerEpoch(rows, batch_size * gradient_accumulation_steps)
}

/** Whole batches in the data; one where the data is smaller than a batch. */
export function stepsPerEpoch(rows: number, batchSize: number): number {
  return Math.max(1, Math.floor(rows / batchSize))
}

// When a run is saved.
/**
 * Numbers of finished steps after which a checkpoint is due, in order: every multiple of `save_every`, or exactly the rounded
 * shares of `save_at_fractions`. The end of the run is saved by the loop in any case.
 */
export function saveMarks(
  numSteps: number,
  { save_every, save_at_fractions }: Pick<SharedParams, 'save_every' | 'save_at_fractions'>,
): number[] {
  if (save_every > 0) {
    return Array.from({ length: Math.floor(numSteps / save_every) }, (_, index) => (index + 1) * save_every)
  }
  const marks = save_at_fractions.map((fraction) => Math.max(1, Math.round(fraction * numSteps)))
  return [...new Set(marks)].sort((a, b) => a - b)
}
