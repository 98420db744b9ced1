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
    const { openModelText } = await import('../tinker/open-model-text.ts')
    // While the process starts, what will talk to it is loaded. The text brings the files of a bundled model with it, where they
    // are missing; if it cannot be opened, the trainer says why.
    const text = params.engine === 'mock' ? openModelText('bigram', model.name) : openModelText(undefined, model.name)
    const starting = startTrainerProcess({
      ...{ engine: params.engine, models: [model.name], runDir, signal },
      onNotice: (notice) => log('info', notice),
      startAfter: text.catch(() => {}),
    })
    const client = Promise.all([import('../../tinker/index.ts'), import('../tinker/open-client-backend.ts')])
    client.catch(() => {}) // told below
    new Headers() // Node loads its HTTP client at the first use of a part of it
    const trainer = await starting
    try {
      const [{ createTinkerClient }, { openClientBackend }] = await client
      const backend = await openClientBackend({
        client: await createTinkerClient({ preset: 'evsys', baseUrl: trainer.url, apiKey: trainer.key, signal }),
        baseModel: model.name,
        loraRank,
        seed,
        serviceName: params.engine,
        maxContext: undefined,
        openText: () => text,
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
