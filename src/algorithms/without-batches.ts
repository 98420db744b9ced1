// Recipes that build no batch: score_only and prompt_search train nothing, combo hands the run to other recipes.
import * as z from 'zod'
import { pluginReference } from '../contracts/index.ts'
import { defineAlgorithm } from '../kernel/index.ts'
import { count, nonEmpty, sharedParams } from './params/shared-params.ts'

/** Scores a model without training it. Takes the shared params, so that it can stand on an axis beside recipes that train. */
export const scoreOnly = defineAlgorithm({
  kind: 'score_only',
  summary: 'Trains nothing: scores the model as it is, as the baseline of recipes that train.',
  params: z.strictObject(sharedParams),
  takesRows: false,
  async train({ runId }) {
    return { run_id: runId, status: 'completed', metrics: {}, artifacts: [] }
  },
})

// Several recipes in one run, one after the other on the same rows. Weights carry over from phase to phase; each phase has a separate
// optimiser and learning rate.
const { save_every, save_at_fractions, save_sampler, callbacks, lora_rank, renderer_name } = sharedParams

const Phase = z.strictObject({
  kind: nonEmpty.describe('Algorithm of this phase.'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Its params; its length among them.'),
  name: nonEmpty.optional().describe('Stands before its metrics; absent: its kind, with its number if needed.'),
})

/** Chains recipes that take the same rows. Recipes with other data are `stages`. */
export const combo = defineAlgorithm({
  kind: 'combo',
  summary:
    'Several recipes in one run, one after the other on the same rows: weights carry over, optimiser and rate start anew.',
  params: z
    .strictObject({
      phases: z.array(pluginReference('algorithm', Phase)).min(1).describe('Recipes, in order.'),
      max_steps: count.optional().describe('Most steps of every phase.'),
      lora_rank,
      renderer_name,
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
    throw new Error('a combo has no batch: its phases have')
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

// A search for the system prompt that validation likes best. No weight moves: what is found is words. Candidates are scored on the
// validation benchmark of the objective alone, and the best one speaks when the other benchmarks are scored at the end.
/** Scores system prompts on validation and keeps the best. */
export const promptSearch = defineAlgorithm({
  kind: 'prompt_search',
  summary: 'Scores candidate system prompts on validation and answers with the best one; trains nothing.',
  params: z.strictObject({
    ...sharedParams,
    max_steps: count.optional().describe('Most candidates that are tried.'),
    candidates: z.array(z.string()).min(1).describe('System prompts to try, in order; an empty one is none.'),
    include_none: z.boolean().default(true).describe('Also tries no system prompt at all, first.'),
  }),
  takesRows: false,
  async train({ runId, params, prompts, log }) {
    const all = [...new Set([...(params.include_none ? [''] : []), ...params.candidates])]
    const candidates = all.slice(0, params.max_steps)
    let best: { prompt: string; score: number } | undefined
    for (const [step, prompt] of candidates.entries()) {
      const { score, isBest, stop } = await prompts.validate(step, prompt)
      log('info', `candidate ${step + 1} of ${candidates.length}: ${score}`)
      if (isBest) best = { prompt, score }
      if (stop !== undefined) break
    }
    if (best === undefined) throw new Error('no candidate has a score on validation')
    prompts.use(best.prompt)
    return {
      run_id: runId,
      status: 'completed',
      metrics: { 'prompt/candidates': candidates.length, 'prompt/best_score': best.score },
      artifacts: [{ name: 'system_prompt', kind: 'prompt', ref: best.prompt }],
    }
  },
})
