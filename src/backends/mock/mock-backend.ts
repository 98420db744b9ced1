import * as z from 'zod'
import { defineBackend, EvsysError, systemClock } from '../../kernel/index.ts'
import { byteTokenizer } from './byte-tokenizer.ts'
import { createMockService } from './mock-service.ts'
import { mockVocabSize } from './special-tokens.ts'
import { atWirePrecision } from './wire-precision.ts'

const modelId = 'mock-model'

/** Nothing in a bigram model limits the length of a text; this bounds what one request may cost. */
export const mockMaxContext = 131_072

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
    const { engineIdText, loadMockEngine } = await import('../../engine/index.ts')
    const { createMockEngine } = await loadMockEngine()
    const engine = atWirePrecision(createMockEngine({ vocabSize: mockVocabSize }))
    const parts = { trainAttention: true, trainMlp: true, trainUnembedding: true }
    const lora = loraRank === undefined ? {} : { lora: { rank: loraRank, seed, ...parts } }
    await engine.run({ op: 'create', model: modelId, baseModel: model.name, ...lora }, signal)
    const service = createMockService({
      engine,
      modelId,
      runDir,
      signal,
      clock: systemClock,
      latencyMs: params.latency_ms,
      failAtStep: params.fail_at_step,
    })
    return {
      service,
      modelId,
      engineId: engineIdText(engine.id),
      tokenizer: byteTokenizer,
      tokenizerOf: async () => byteTokenizer,
      maxContext: mockMaxContext,
      async [Symbol.asyncDispose]() {
        service[Symbol.dispose]()
        await engine[Symbol.asyncDispose]()
      },
    }
  },
})
