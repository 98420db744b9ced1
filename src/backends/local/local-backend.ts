import * as z from 'zod'
import { defineBackend } from '../../kernel/index.ts'
import { engineKinds } from './engine-kinds.ts'
import { loadClient, takeWarmText } from './load-client.ts'

/** Trains on this machine, in a trainer process that lives as long as the run. */
export const localBackend = defineBackend({
  kind: 'local',
  summary: 'Trains on this machine: starts a trainer process for the run and talks to it as to any training service.',
  params: z.strictObject({
    engine: z.enum(engineKinds).default('cpu').describe('What computes.'),
  }),
  async open({ params, model, loraRank, seed, runDir, otherModels = [], signal, stopping, log, trainer: openTrainer }) {
    const { startTrainerProcess } = await import('./start-trainer-process.ts')
    const { openModelText } = await import('../tinker/open-client-backend.ts')
    const starting =
      openTrainer?.() ??
      startTrainerProcess({
        engine: params.engine,
        models: [model.name, ...otherModels],
        runDir,
        signal,
        onNotice: (notice) => log('info', notice),
      })
    starting.catch(() => {}) // thrown below
    // While the process starts, what will talk to it is loaded. If the text cannot be opened, the trainer says why.
    const isMock = params.engine === 'mock'
    const warm = isMock ? undefined : takeWarmText(model.name)
    const text = warm ?? openModelText(isMock ? 'bigram' : undefined, model.name)
    text.catch(() => {}) // thrown below
    const client = loadClient()
    client.catch(() => {}) // thrown below
    const trainer = await starting
    try {
      const [{ createTinkerClient }, { logEvents, openClientBackend }] = await client
      const backend = await openClientBackend({
        client: await createTinkerClient({
          preset: 'evsys',
          baseUrl: trainer.url,
          socketPath: trainer.socketPath,
          apiKey: trainer.key,
          signal: AbortSignal.any([signal, trainer.gone]),
          stopping,
          onEvent: logEvents(log),
        }),
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
  async openWeights({ params, model, runDir, signal, log }) {
    const { openLocalWeights } = await import('./open-local-weights.ts')
    return await openLocalWeights({ engine: params.engine, model: model.name, runDir, signal, log })
  },
})
