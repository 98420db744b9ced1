// The contract that the training loop knows, over a client: models by id.
import type { CheckpointKind, Ref, RefOf, SaveOptions, TrainingService, Weights } from '../contracts/index.ts'
import type { RestClient } from './rest-client.ts'
import type { Sampler } from './sampler.ts'
import { ServiceError } from './service-error.ts'
import type { TrainingModel } from './training-model.ts'

export type TrainingServiceOptions = {
  model: (modelId: string) => TrainingModel | undefined
  openSampler: (of: { baseModel: string } | { path: string } | { samplingSessionId: string }) => Promise<Sampler>
  rest: RestClient
  /** Absent: a snapshot ends with its session. */
  deleteSnapshot?: ((samplingSessionId: string) => Promise<void>) | undefined
}

// A snapshot has no path; its session stands for it.
const snapshotPrefix = 'tinker-session:'

export function createTrainingService(options: TrainingServiceOptions): TrainingService {
  const { model, openSampler, rest, deleteSnapshot } = options
  const samplers = new Map<string, Promise<Sampler>>()

  const on = <T>(modelId: string, start: (model: TrainingModel) => Promise<T>): Promise<T> => {
    const found = model(modelId)
    const started =
      found === undefined
        ? Promise.reject(
            new ServiceError('invalid', `no model is called "${modelId}"`, { fix: 'make it with this client first.' }),
          )
        : start(found)
    started.catch(() => {}) // the caller may still await an earlier request when this one fails
    return started
  }

  const samplerFor = (weights: Weights): Promise<Sampler> => {
    const key = 'uri' in weights ? weights.uri : `base:${weights.baseModel}`
    const known = samplers.get(key)
    if (known !== undefined) return known
    const opened = openSampler(source(weights))
    samplers.set(key, opened)
    opened.catch(() => samplers.delete(key)) // the next request may find it
    return opened
  }

  return {
    forward: (id, data, loss) => on(id, (found) => found.forward(data, loss)),
    forwardBackward: (id, data, loss) => on(id, (found) => found.forwardBackward(data, loss)),
    optimStep: (id, adam) => on(id, (found) => found.optimStep(adam)),
    save: <K extends CheckpointKind>(id: string, name: string, { kind, ttlSeconds }: SaveOptions<K>) =>
      on(id, async (found): Promise<RefOf<K>> => {
        const uri = await (kind === 'state'
          ? found.saveState(name, { ttlSeconds })
          : found.saveForSampler(name, { ttlSeconds }))
        return { kind, uri }
      }),
    snapshot: (id) => on(id, async (found) => ({ kind: 'sampler', uri: `${snapshotPrefix}${await found.snapshot()}` })),
    load: (id, ref, { optimizer }) => on(id, (found) => found.load(ref.uri, { optimizer })),
    sample: ({ model: weights, ...request }, signal) => {
      const samples = samplerFor(weights).then((sampler) => sampler.sample(request, { signal }))
      samples.catch(() => {})
      return samples
    },
    remove: async ({ uri }: Ref) => {
      samplers.delete(uri)
      if (uri.startsWith(snapshotPrefix)) await deleteSnapshot?.(uri.slice(snapshotPrefix.length))
      else await rest.deleteCheckpoint(uri)
    },
  }
}

function source(weights: Weights): { baseModel: string } | { path: string } | { samplingSessionId: string } {
  if ('baseModel' in weights) return weights
  const { uri } = weights
  return uri.startsWith(snapshotPrefix) ? { samplingSessionId: uri.slice(snapshotPrefix.length) } : { path: uri }
}
