import * as z from 'zod'
import { defineBackend } from '../../kernel/index.ts'
import { engineKinds } from './engine-kinds.ts'

/** Trains on this machine, in a trainer process that lives as long as the run. */
export const localBackend = defineBackend({
  kind: 'local',
  summary: 'Trains on this machine: starts a trainer process for the run and talks to it as to any training service.',
  params: z.strictObject({
    engine: z.enum(engineKinds).default('cpu').describe('What computes.'),
  }),
  async open({ params, model, loraRank, seed, runDir, signal, log }) {
    const { startTrainerProcess } = await import('./start-trainer-process.ts')
    const { createTinkerClient } = await import('../../tinker/index.ts')
    const { openClientBackend } = await import('../tinker/open-client-backend.ts')
    const { openModelText } = await import('../tinker/open-model-text.ts')
    const trainer = await startTrainerProcess({
      ...{ engine: params.engine, models: [model.name], runDir, signal },
      onNotice: (text) => log('info', text),
    })
    try {
      const client = await createTinkerClient({ preset: 'evsys', baseUrl: trainer.url, apiKey: trainer.key, signal })
      const backend = await openClientBackend({
        client,
        baseModel: model.name,
        loraRank,
        seed,
        serviceName: params.engine,
        maxContext: undefined,
        openText: openModelText,
      })
      return {
        ...backend,
        async [Symbol.asyncDispose]() {
          await backend[Symbol.asyncDispose]()
          await trainer[Symbol.asyncDispose]()
        },
      }
    } catch (error) {
      await trainer[Symbol.asyncDispose]()
      throw error
    }
  },
})
