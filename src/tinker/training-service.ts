// The contract that the training loop knows, over a client: models by id, requests by the loop's own numbers. What comes early
// waits for what is missing; the numbers on the wire are the client's, since one request may be several there.
import type { CheckpointKind, Ref, RefOf, SamplerRef, TrainingService, Weights } from '../contracts/index.ts'
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
  const lanes = new Map<string, NumberedLane>()
  const samplers = new Map<string, Promise<Sampler>>()

  const inOrder = <T>(modelId: string, seq: number, start: (model: TrainingModel) => Promise<T>): Promise<T> => {
    const found = model(modelId)
    const lane = lanes.get(modelId) ?? new NumberedLane()
    lanes.set(modelId, lane)
    const started =
      found === undefined
        ? Promise.reject(refused(`no model is called "${modelId}"`, 'make it with this client first.'))
        : lane.start(seq, () => start(found))
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
    forward: (id, data, loss, seq) => inOrder(id, seq, (found) => found.forward(data, loss)),
    forwardBackward: (id, data, loss, seq) => inOrder(id, seq, (found) => found.forwardBackward(data, loss)),
    optimStep: (id, adam, seq) => inOrder(id, seq, (found) => found.optimStep(adam)),
    save: <K extends CheckpointKind>(
      id: string,
      name: string,
      { kind, seq, ttlSeconds }: { kind: K; seq: number; ttlSeconds?: number },
    ) =>
      inOrder(id, seq, async (found): Promise<RefOf<K>> => {
        const options = ttlSeconds === undefined ? {} : { ttlSeconds }
        const uri = await (kind === 'state' ? found.saveState(name, options) : found.saveForSampler(name, options))
        return { kind, uri }
      }),
    snapshot: (id, seq) =>
      inOrder(
        id,
        seq,
        async (found): Promise<SamplerRef> => ({ kind: 'sampler', uri: `${snapshotPrefix}${await found.snapshot()}` }),
      ),
    load: (id, ref, { optimizer, seq }) => inOrder(id, seq, (found) => found.load(ref.uri, { optimizer })),
    sample: ({ model: weights, ...request }, signal) => {
      const options = signal === undefined ? {} : { signal }
      const samples = samplerFor(weights).then((sampler) => sampler.sample(request, options))
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

/** Starts requests in the order of their numbers, from 1 without gaps; each takes its place on the wire when it starts. */
class NumberedLane {
  readonly #waiting = new Map<number, () => void>()
  #next = 1

  start<T>(seq: number, begin: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!Number.isSafeInteger(seq) || seq < 1) {
        return reject(refused(`seq is ${seq}`, 'number the requests of a model 1, 2, 3, ...'))
      }
      if (seq < this.#next || this.#waiting.has(seq)) {
        return reject(refused(`a request with seq ${seq} was sent before`, 'give every request a number of its own.'))
      }
      this.#waiting.set(seq, () => begin().then(resolve, reject))
      for (let next = this.#waiting.get(this.#next); next !== undefined; next = this.#waiting.get(this.#next)) {
        this.#waiting.delete(this.#next++)
        next()
      }
    })
  }
}

function refused(message: string, fix: string): ServiceError {
  return new ServiceError('invalid', message, { fix })
}
