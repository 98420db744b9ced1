// A search for the system prompt that validation likes best. No weight moves: what is found is words. Candidates are scored on the
// validation benchmark of the objective alone, and the best one speaks when the other benchmarks are scored at the end.
import * as z from 'zod'
import { defineAlgorithm } from '../kernel/index.ts'
import { sharedParams } from './shared-params.ts'

/** Scores system prompts on validation and keeps the best. */
export const promptSearch = defineAlgorithm({
  kind: 'prompt_search',
  summary: 'Scores candidate system prompts on validation and answers with the best one; trains nothing.',
  params: z.strictObject({
    ...sharedParams,
    max_steps: z.int().min(1).optional().describe('Most candidates that are tried.'),
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
