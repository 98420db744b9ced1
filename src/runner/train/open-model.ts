// A model in training, opened on its backend: requests in order, saving, and going back to a checkpoint. Going back opens the
// backend anew, since weights are loaded by the first request of a model.
import { mkdir } from 'node:fs/promises'
import {
  type Adam,
  type Datum,
  type FwdBwd,
  type Loss,
  type Metrics,
  type OpenBackend,
  type Ref,
  type RefOf,
  type RunConfig,
  type SampleReq,
  type SamplerRef,
  type StateRef,
  type TrainingService,
  teachersOf,
} from '../../contracts/index.ts'
import { boundary } from '../../kernel/index.ts'
import { equip, type RunServices } from './run-context.ts'

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
  /** For an algorithm that drives it itself, between requests of the lab. */
  readonly service: TrainingService
}

export async function openModel(options: {
  config: RunConfig
  loraRank: number | undefined
  runDir: string
  services: RunServices
  /** Weights to start from; with `optimizer`, training resumes where they were saved. */
  from?: { ref: StateRef; optimizer: boolean } | undefined
  /** Aborted: what gets no answer is not waited for. */
  stopping?: AbortSignal | undefined
}): Promise<OpenModel> {
  const { config, loraRank, runDir, services, from, stopping } = options
  const { plugin, context } = equip('backend', config.backend, services)
  await mkdir(runDir, { recursive: true })
  const backend = await boundary('BACKEND_FAILED', `backend "${config.backend.kind}"`, services.signal, () =>
    plugin.open({
      ...context,
      model: config.model,
      loraRank,
      seed: config.seed,
      runDir,
      stopping,
      trainer: services.trainer,
      ...otherModels(config),
    }),
  )
  const { modelId } = backend
  const service = reportBatches(backend, services)
  const asked = <T>(what: string, work: () => Promise<T>) => boundary('BACKEND_FAILED', what, services.signal, work)
  try {
    if (from !== undefined) {
      await asked('loading weights', () => service.load(modelId, from.ref, { optimizer: from.optimizer }))
    }
  } catch (error) {
    await backend[Symbol.asyncDispose]()
    throw error
  }
  return {
    backend,
    async step(batches, adam) {
      const gradients = batches.map(({ data, loss }) =>
        asked('forward and backward', () => service.forwardBackward(modelId, data, loss)),
      )
      const update = asked('optimiser step', () => service.optimStep(modelId, adam))
      const [optimizer, ...results] = await Promise.all([update, ...gradients])
      return { results, optimizer }
    },
    save: (name, kind) => asked('saving weights', () => service.save(modelId, name, { kind })),
    snapshot: () => asked('taking a snapshot', () => service.snapshot(modelId)),
    async drop(ref) {
      if (service.remove === undefined) return false
      await asked('deleting weights', () => service.remove?.(ref) ?? Promise.resolve())
      return true
    },
    sample: (request, signal) => asked('sampling', () => service.sample(request, signal)),
    service,
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  }
}

function otherModels({ model, algorithm }: RunConfig): { otherModels?: string[] | undefined } {
  const named = teachersOf(algorithm.params).flatMap(({ base_model }) => base_model ?? [])
  const others = [...new Set(named)].filter((name) => name !== model.name)
  return others.length === 0 ? {} : { otherModels: others }
}

/** The service of a backend; a watcher of the data of the run sees every batch that is sent to it. */
function reportBatches({ service, tokenizer }: OpenBackend, { data: watcher }: RunServices): TrainingService {
  if (watcher?.onBatch === undefined) return service
  return {
    ...service,
    forwardBackward(model, data, loss) {
      watcher.onBatch?.(data, tokenizer)
      return service.forwardBackward(model, data, loss)
    },
  }
}
