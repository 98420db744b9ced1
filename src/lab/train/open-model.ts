// A model in training, opened on its backend: numbered requests, saving, and going back to a checkpoint. Going back opens the
// backend anew, since weights are loaded by the first request of a model.
import { mkdir } from 'node:fs/promises'
import type {
  Adam,
  Datum,
  FwdBwd,
  Loss,
  Metrics,
  OpenBackend,
  Ref,
  RefOf,
  RunConfig,
  SampleReq,
  SamplerRef,
  StateRef,
  TrainingService,
} from '../../contracts/index.ts'
import { teachersOf } from '../../contracts/index.ts'
import { boundary } from '../../kernel/index.ts'
import { equip, type RunServices } from './run-context.ts'
import { tellBatches } from './tell-batches.ts'

export interface OpenModel extends AsyncDisposable {
  readonly backend: OpenBackend
  /** Gradients of every batch and the update, sent together; the answers arrive in order. */
  step(
    batches: readonly { data: readonly Datum[]; loss: Loss }[],
    adam: Adam,
  ): Promise<{ results: FwdBwd[]; optimizer: Metrics }>
  save<K extends 'state' | 'sampler'>(name: string, kind: K): Promise<RefOf<K>>
  /** Weights of this moment, to sample from. */
  snapshot(): Promise<SamplerRef>
  /** Deletes saved weights; false: this service keeps what it has. */
  drop(ref: Ref): Promise<boolean>
  sample(request: SampleReq, signal?: AbortSignal): ReturnType<OpenBackend['service']['sample']>
  /** The service for whoever drives it himself and numbers his requests from 1, between requests of the lab. */
  lend(): TrainingService
}

export async function openModel(options: {
  config: RunConfig
  loraRank: number | undefined
  runDir: string
  services: RunServices
  /** Weights to start from; with `optimizer`, training goes on where they were saved. */
  from?: { ref: StateRef; optimizer: boolean } | undefined
}): Promise<OpenModel> {
  const { config, loraRank, runDir, services, from } = options
  const { plugin, context } = equip('backend', config.backend, services)
  await mkdir(runDir, { recursive: true })
  const backend = await boundary('BACKEND_FAILED', `backend "${config.backend.kind}"`, services.signal, () =>
    plugin.open({ ...context, model: config.model, loraRank, seed: config.seed, runDir, ...otherModels(config) }),
  )
  const { modelId } = backend
  const service = tellBatches(backend, services)
  let seq = 0
  const next = () => {
    seq += 1
    return seq
  }
  const asked = <T>(what: string, work: () => Promise<T>) => boundary('BACKEND_FAILED', what, services.signal, work)
  try {
    if (from !== undefined) {
      await asked('loading weights', () => service.load(modelId, from.ref, { optimizer: from.optimizer, seq: next() }))
    }
  } catch (error) {
    await backend[Symbol.asyncDispose]()
    throw error
  }
  return {
    backend,
    async step(batches, adam) {
      const gradients = batches.map(({ data, loss }) =>
        asked('forward and backward', () => service.forwardBackward(modelId, data, loss, next())),
      )
      const update = asked('optimiser step', () => service.optimStep(modelId, adam, next()))
      const [optimizer, ...results] = await Promise.all([update, ...gradients])
      return { results, optimizer }
    },
    save: (name, kind) => asked('saving weights', () => service.save(modelId, name, { kind, seq: next() })),
    snapshot: () => asked('taking a snapshot', () => service.snapshot(modelId, next())),
    async drop(ref) {
      if (service.remove === undefined) return false
      await asked('deleting weights', () => service.remove?.(ref) ?? Promise.resolve())
      return true
    },
    sample: (request, signal) => asked('sampling', () => service.sample(request, signal)),
    lend: () => {
      // The borrower's numbers follow ours; a request of ours in between moves his further on.
      let lent = seq
      let mine = seq
      const numbered = (number: number) => {
        lent += seq - mine
        seq = Math.max(seq, lent + number)
        mine = seq
        return lent + number
      }
      const { remove } = service
      return {
        forward: (model, data, loss, number) => service.forward(model, data, loss, numbered(number)),
        forwardBackward: (model, data, loss, number) => service.forwardBackward(model, data, loss, numbered(number)),
        optimStep: (model, adam, number) => service.optimStep(model, adam, numbered(number)),
        save: (model, name, options) => service.save(model, name, { ...options, seq: numbered(options.seq) }),
        snapshot: (model, number) => service.snapshot(model, numbered(number)),
        load: (model, ref, options) => service.load(model, ref, { ...options, seq: numbered(options.seq) }),
        sample: (request, signal) => service.sample(request, signal),
        ...(remove === undefined ? {} : { remove: (ref: Ref) => remove.call(service, ref) }),
      }
    },
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  }
}

function otherModels({ model, algorithm }: RunConfig): { otherModels?: string[] } {
  const named = teachersOf(algorithm.params).flatMap(({ base_model }) => base_model ?? [])
  const others = [...new Set(named)].filter((name) => name !== model.name)
  return others.length === 0 ? {} : { otherModels: others }
}
