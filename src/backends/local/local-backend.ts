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
  // Another trainer, which no recipe has a key of, over the folder that the project's trainers save to. It looks at the weights' hash.
  async openWeights({ params, model, runDir, signal, log }) {
    const { startTrainerProcess } = await import('./start-trainer-process.ts')
    const { contextOf, openModelText } = await import('../tinker/open-client-backend.ts')
    const isMock = params.engine === 'mock'
    const text = openModelText(isMock ? 'bigram' : undefined, model.name)
    text.catch(() => {}) // thrown below
    const { engine } = params
    const onNotice = (notice: string) => log('info', notice)
    const trainer = await startTrainerProcess({ engine, models: [model.name], runDir, signal, onNotice })
    try {
      const [{ createTinkerClient }] = await loadClient()
      const own = AbortSignal.any([signal, trainer.gone])
      const client = await createTinkerClient({
        preset: 'evsys',
        baseUrl: trainer.url,
        apiKey: trainer.key,
        signal: own,
      })
      return {
        ...(await text),
        sample: (request, stop) => client.service.sample(request, stop),
        maxContext: await contextOf(client, model.name),
        async [Symbol.asyncDispose]() {
          await client.close('success')
          await trainer[Symbol.asyncDispose]()
        },
      }
    } catch (error) {
      await trainer[Symbol.asyncDispose]()
      throw error
    }
  },
})
