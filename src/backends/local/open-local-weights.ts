// Saved weights to ask on this machine: another trainer, which no recipe has a key of, over the folder that the project's trainers save to.
// It looks at the weights' hash. All that it knows is on disk, so that one that was killed is replaced, and asked again.
import type { Context, OpenWeights } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { contextOf, openModelText } from '../tinker/open-client-backend.ts'
import { loadClient } from './load-client.ts'
import { startTrainerProcess } from './start-trainer-process.ts'
import type { TrainerStart } from './trainer-messages.ts'

interface LocalWeightsOptions extends Pick<Context<unknown>, 'signal' | 'log'> {
  readonly engine: TrainerStart['engine']
  readonly model: string
  readonly runDir: string
}

export async function openLocalWeights(options: LocalWeightsOptions): Promise<OpenWeights> {
  const { engine, model, signal, log } = options
  const text = openModelText(engine === 'mock' ? 'bigram' : undefined, model)
  text.catch(() => {}) // thrown below
  let current = openOne(options)
  const { maxContext } = await current
  try {
    return {
      ...(await text),
      async sample(request, stop) {
        const asked = current
        const place = await asked
        try {
          return await place.client.service.sample(request, stop)
        } catch (error) {
          if (signal.aborted || stop?.aborted || !place.isLost(error)) throw error
          if (current === asked) {
            log('warn', `${messageOf(error)}; what it was asked is asked again`)
            if (place.gone.aborted) current = place.end().then(() => openOne(options))
            current.catch(() => {}) // thrown where it is waited for
          }
          return await (await current).client.service.sample(request, stop)
        }
      },
      maxContext,
      [Symbol.asyncDispose]: async () => await (await current.catch(() => undefined))?.end(),
    }
  } catch (error) {
    await (await current).end()
    throw error
  }
}

/** A trainer; another one where the first was killed before it could be asked. */
async function openOne(options: LocalWeightsOptions) {
  try {
    return await openPlace(options)
  } catch (error) {
    if (options.signal.aborted || !EvsysError.is(error) || error.code !== 'WORKER_DIED') throw error
    options.log('warn', `${error.message}; another one is started`)
    return await openPlace(options)
  }
}

async function openPlace({ engine, model, runDir, signal, log }: LocalWeightsOptions) {
  const onNotice = (notice: string) => log('info', notice)
  const trainer = await startTrainerProcess({ engine, models: [model], runDir, signal, onNotice })
  try {
    const [{ createTinkerClient, isServiceError }] = await loadClient()
    const own = AbortSignal.any([signal, trainer.gone])
    const client = await createTinkerClient({ preset: 'evsys', baseUrl: trainer.url, apiKey: trainer.key, signal: own })
    const maxContext = await contextOf(client, model)
    return {
      client,
      maxContext,
      gone: trainer.gone,
      /** Whether its trainer, or the engine in it, ended at what was asked. */
      isLost: (error: unknown) =>
        trainer.gone.aborted || (isServiceError(error) && error.kind === 'failed' && error.code === 'BACKEND_FAILED'),
      async end() {
        if (!trainer.gone.aborted) await client.close('success')
        await trainer[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await trainer[Symbol.asyncDispose]()
    throw error
  }
}
