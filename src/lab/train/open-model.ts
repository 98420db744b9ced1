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
} from '../../contracts/index.ts'
import { boundary } from '../../kernel/index.ts'
import { equip, type RunServices } from './run-context.ts'

export interface OpenModel extends AsyncDisposable {
  readonly backend: OpenBackend
  /** Gradients and update, sent together; the answers arrive in order. */
  step(data: readonly Datum[], loss: Loss, adam: Adam): Promise<{ result: FwdBwd; optimizer: Metrics }>
  save<K extends 'state' | 'sampler'>(name: string, kind: K): Promise<RefOf<K>>
  /** Weights of this moment, to sample from. */
  snapshot(): Promise<SamplerRef>
  /** Deletes saved weights; false: this service keeps what it has. */
  drop(ref: Ref): Promise<boolean>
  sample(request: SampleReq): ReturnType<OpenBackend['service']['sample']>
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
    plugin.open({ ...context, model: config.model, loraRank, seed: config.seed, runDir }),
  )
  const { service, modelId } = backend
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
    async step(data, loss, adam) {
      const gradients = asked('forward and backward', () => service.forwardBackward(modelId, data, loss, next()))
      const update = asked('optimiser step', () => service.optimStep(modelId, adam, next()))
      const [result, optimizer] = await Promise.all([gradients, update])
      return { result, optimizer }
    },
    save: (name, kind) => asked('saving weights', () => service.save(modelId, name, { kind, seq: next() })),
    snapshot: () => asked('taking a snapshot', () => service.snapshot(modelId, next())),
    async drop(ref) {
      if (service.remove === undefined) return false
      await asked('deleting weights', () => service.remove?.(ref) ?? Promise.resolve())
      return true
    },
    sample: (request) => asked('sampling', () => service.sample(request)),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  }
}
