// No training: the model is scored as it is. The baseline of every claim that training helps.
import * as z from 'zod'
import { defineAlgorithm } from '../kernel/index.ts'
import { sharedParams } from './shared-params.ts'

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
