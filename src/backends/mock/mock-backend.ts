import * as z from 'zod'
import type { OpenWeights } from '../../contracts/index.ts'
import { defineBackend, EvsysError, systemClock } from '../../kernel/index.ts'
import { byteTokenizer, mockMaxContext } from '../models/mock-models.ts'

/** Trains in this process, on a model small enough for tests and first steps. */
export const mockBackend = defineBackend({
  kind: 'mock',
  summary: 'Trains a small bigram model in this process: true gradients, no download, the same result every time.',
  params: z.strictObject({
    fail_on_prepare: z.boolean().default(false).describe('Fails when the run starts, to try out what happens then.'),
    fail_at_step: z
      .int()
      .min(0)
      .optional()
      .describe('The optimiser step that fails, counted from 0 since the run was started or resumed.'),
    latency_ms: z.number().min(0).max(60_000).default(0).describe('How long every answer is on its way.'),
  }),
  async open({ params, model, loraRank, seed, runDir, signal }) {
    if (params.fail_on_prepare) {
      throw new EvsysError('BACKEND_FAILED', 'mock backend: preparing fails, as asked', {
        fix: 'leave out fail_on_prepare.',
      })
    }
    const { mockService, openMockTrainer } = await import('./mock-trainer.ts')
    const { openClientBackend } = await import('../tinker/open-client-backend.ts')
    const { client, checkpoints, close } = await openMockTrainer(runDir, signal)
    const backend = await openClientBackend({
      client,
      baseModel: model.name,
      loraRank,
      seed,
      serviceName: 'mock',
      maxContext: mockMaxContext,
      openText: async () => ({ tokenizer: byteTokenizer }),
    }).catch(async (error) => {
      await close()
      throw error
    })
    return {
      ...backend,
      service: mockService(backend.service, {
        checkpoints,
        signal,
        clock: systemClock,
        latencyMs: params.latency_ms,
        failAtStep: params.fail_at_step,
      }),
      async [Symbol.asyncDispose]() {
        await backend[Symbol.asyncDispose]()
        await close()
      },
    }
  },
  // Weights are files in the folder of a run: another trainer reads them.
  async openWeights(context): Promise<OpenWeights> {
    const { weightsOf } = await import('../tinker/open-client-backend.ts')
    return weightsOf(await mockBackend.open({ ...context, loraRank: undefined, seed: 0 }))
  },
})
