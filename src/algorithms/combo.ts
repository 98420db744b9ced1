// Several recipes in one run, one after the other on the same rows. Weights go on from phase to phase; each phase has an optimiser
// and a learning rate of its own.
import * as z from 'zod'
import { defineAlgorithm } from '../kernel/index.ts'
import { sharedParams } from './shared-params.ts'

const { save_every, save_at_fractions, save_sampler, callbacks, lora_rank, renderer_name, enable_thinking } =
  sharedParams

const Phase = z.strictObject({
  kind: z.string().min(1).describe('Algorithm of this phase.'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Its params; its length among them.'),
  name: z
    .string()
    .min(1)
    .optional()
    .describe('Stands before its metrics; absent: its kind, with its number if needed.'),
})

/** Chains recipes that take the same rows. Recipes with other data are `stages`. */
export const combo = defineAlgorithm({
  kind: 'combo',
  summary:
    'Several recipes in one run, one after the other on the same rows: weights go on, optimiser and rate start anew.',
  params: z
    .strictObject({
      phases: z.array(Phase).min(1).describe('Recipes, in order.'),
      max_steps: z.int().min(1).optional().describe('Most steps of every phase.'),
      lora_rank,
      renderer_name,
      enable_thinking,
      save_every,
      save_at_fractions,
      save_sampler,
      callbacks,
    })
    .refine(({ phases }) => new Set(labels(phases)).size === phases.length, {
      path: ['phases'],
      error: 'two phases have the same name',
    })
    .refine(({ phases }) => phases.every(({ params }) => !('lora_rank' in params)), {
      path: ['phases'],
      error: 'a run has one adapter: write lora_rank beside phases, not in one of them',
    }),
  rowFormat: 'chat_messages',
  phases: ({ phases, max_steps }) => {
    const names = labels(phases)
    return phases.map(({ kind, params }, i) => ({ kind, params: capped(params, max_steps), label: names[i] ?? kind }))
  },
  async buildBatch() {
    throw new Error('a combo has no batch of its own: its phases have')
  },
})

function capped(params: Readonly<Record<string, unknown>>, most: number | undefined) {
  if (most === undefined) return params
  const own = params.max_steps
  return { ...params, max_steps: typeof own === 'number' ? Math.min(own, most) : most }
}

function labels(phases: readonly z.output<typeof Phase>[]): string[] {
  return phases.map(({ kind, name }, i) => {
    const isRepeated = phases.some((other, j) => j !== i && other.kind === kind && other.name === undefined)
    return name ?? (isRepeated ? `${kind}_${i}` : kind)
  })
}
