import { resolve } from 'node:path'
import * as z from 'zod'
import { defineInferenceClient } from '../../kernel/index.ts'
import { engineKinds } from '../local/engine-kinds.ts'
import { samplerParams } from './client-params.ts'

/** Models on this machine: a trainer process that lives as long as the client. */
export const localClient = defineInferenceClient({
  kind: 'local',
  summary: 'Models on this machine: starts a trainer process and samples from it.',
  params: z.strictObject({
    ...samplerParams,
    engine: z.enum(engineKinds).default('cpu').describe('What computes.'),
    folder: z.string().min(1).default('.evsys').describe('Folder whose `trainer/` holds the trained weights.'),
  }),
  async open({ params, signal, log }) {
    const { startTrainerProcess } = await import('../local/start-trainer-process.ts')
    const { openModelText } = await import('../tinker/open-model-text.ts')
    const { openModelRenderer } = await import('./open-model-renderer.ts')
    const { openSamplerClient } = await import('./open-sampler-client.ts')
    const { createTinkerClient } = await import('../../tinker/index.ts')
    const { model, checkpoint, engine } = params
    const text = await openModelText(engine === 'mock' ? 'bigram' : undefined, model)
    const renderer = await openModelRenderer(params.renderer, text)
    const trainer = await startTrainerProcess({
      ...{ engine, models: [model], runDir: resolve(params.folder), signal },
      onNotice: (notice) => log('info', notice),
    })
    try {
      const client = await createTinkerClient({ preset: 'evsys', baseUrl: trainer.url, apiKey: trainer.key, signal })
      return openSamplerClient({
        model: checkpoint ?? model,
        sampler: await client.sampler(checkpoint === undefined ? { baseModel: model } : { path: checkpoint }),
        renderer,
        systemPrompt: params.system_prompt,
        price: params.price ?? { input: 0, output: 0 }, // nobody is paid for this machine's own work
        async close() {
          await client.close('success')
          await trainer[Symbol.asyncDispose]()
        },
      })
    } catch (error) {
      await trainer[Symbol.asyncDispose]()
      throw error
    }
  },
})
