import * as z from 'zod'
import { defineBackend } from '../../kernel/index.ts'
import { dropEarly, takeEarly } from './early-trainer.ts'
import { engineKinds } from './engine-kinds.ts'
import { loadClient } from './load-client.ts'

/** Trains on this machine, in a trainer process that lives as long as the run. */
export const localBackend = defineBackend({
  kind: 'local',
  summary: 'Trains on this machine: starts a trainer process for the run and talks to it as to any training service.',
  params: z.strictObject({
    engine: z.enum(engineKinds).default('cpu').describe('What computes.'),
  }),
  async open({ params, model, loraRank, seed, runDir, otherModels = [], signal, log }) {
    const { startTrainerProcess } = await import('./start-trainer-process.ts')
    const { openModelText } = await import('../tinker/open-model-text.ts')
    // One that has started already knows a single model.
    if (otherModels.length > 0) dropEarly()
    const early = takeEarly({ engine: params.engine, model: model.name })
    const starting = startTrainerProcess({
      ...{ engine: params.engine, models: [model.name, ...otherModels], runDir, signal },
      ...(early === undefined ? {} : { early }),
      onNotice: (notice) => log('info', notice),
    })
    // While the process starts, what will talk to it is loaded. If the text cannot be opened, the trainer says why.
    const text = early?.text ?? openModelText(params.engine === 'mock' ? 'bigram' : undefined, model.name)
    text.catch(() => {}) // told below
    const client = loadClient()
    client.catch(() => {}) // told below
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
