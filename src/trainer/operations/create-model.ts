// Models in training: made anew, or from a checkpoint.
import type { LoraSpec } from '../../contracts/index.ts'
import type * as tinker from '../../contracts/tinker/index.ts'
import { HttpError, unprocessable } from '../http/http-error.ts'
import type { Access } from '../state/access.ts'
import { type CheckpointEntry, pathOf, type RunRecord } from '../state/checkpoint-files.ts'
import type { Future } from '../state/futures.ts'
import { SequenceGate } from '../state/sequence-gate.ts'
import type { ServedModel } from '../state/served-model.ts'
import { plainAnswer } from '../wire/wire-data.ts'

/** A promise as it is answered. */
export type Promised = { readonly request_id: string; readonly model_id?: string | undefined }

type Lora = NonNullable<RunRecord['lora']>
type Metadata = Record<string, unknown> | null | undefined

/** `create_model`. Without an adapter, or with one of rank 0, all weights are trained. */
export async function createModel(access: Access, request: tinker.CreateModelRequest, hash: string): Promise<Promised> {
  const { lora_config: config } = request
  const { state } = access
  const base = await state.base(request.base_model)
  const lora = config == null || config.rank === 0 ? undefined : readLora(config)
  checkOptimizer(request.optimizer_config)
  return make(access, request, { hash, base, lora, metadata: request.user_metadata }, (future, model) => {
    state.enqueue(model.run_id, future, async () => {
      await state.run({ op: 'create', model: model.run_id, baseModel: base.name, lora: engineLora(lora) }, 'done')
      return plainAnswer({ type: 'create_model', model_id: model.run_id })
    })
  })
}

/** `load_weights` without a model: makes one like that of the checkpoint, with its weights. */
export async function createFromCheckpoint(
  access: Access,
  address: { session_id: string; model_seq_id: number },
  entry: CheckpointEntry,
  options: { hash: string; optimizer: boolean; metadata: Metadata },
): Promise<Promised> {
  const { state } = access
  const base = await state.base(entry.run.base_model)
  const { lora } = entry.run
  const metadata = options.metadata ?? entry.run.user_metadata
  return make(access, address, { hash: options.hash, base, lora, metadata }, (future, { run_id: model }) => {
    state.enqueue(model, future, async () => {
      const bytes = await state.checkpoints.read(entry)
      await state.run({ op: 'create', model, baseModel: base.name, lora: engineLora(lora) }, 'done')
      await state.run({ op: 'import', model, bytes, optimizer: options.optimizer }, 'done')
      return plainAnswer({ type: 'load_weights', model_id: model, path: pathOf(entry) })
    })
  })
}

async function make(
  access: Access,
  { session_id, model_seq_id }: { session_id: string; model_seq_id: number },
  { hash, base, lora, metadata }: { hash: string; base: ServedModel; lora: Lora | undefined; metadata: Metadata },
  begin: (future: Future, run: RunRecord) => void,
): Promise<Promised> {
  const { state, tenant } = access
  const session = access.session(session_id)
  const id = `${session_id}:train:${model_seq_id}`
  const before = state.models.get(id)
  if (before !== undefined) {
    if (before.made.hash === hash) return { request_id: before.made.requestId, model_id: id }
    throw new HttpError(409, `another model with model_seq_id ${model_seq_id} was made in this session before`)
  }
  if (state.checkpoints.run(id) !== undefined) throw new HttpError(400, `${id} was unloaded: use a new model_seq_id`)
  if (state.models.size >= state.limits.models) {
    throw new HttpError(400, `${state.models.size} models are in training, which is the limit here: unload one first`)
  }
  access.checkModelQuota()
  const run: RunRecord = {
    version: 1,
    run_id: id,
    session_id,
    base_model: base.name,
    engine_id: state.engineId,
    created_ms: state.clock.now(),
    lora,
    user_metadata: asText(metadata),
    tenant,
  }
  const requestId = `${id}:0`
  const future = state.futures.open(requestId, { tenant, sessionId: session_id })
  state.models.set(id, {
    id,
    run,
    base,
    gate: new SequenceGate(state.clock, state.limits.gapMs, state.signal),
    made: { hash, requestId },
    saving: new Set(),
    lost: undefined,
    lastRequestMs: state.clock.now(),
  })
  session.modelIds.add(id)
  session.isUsed = true
  try {
    await state.checkpoints.addRun(run)
  } catch (error) {
    state.models.delete(id)
    session.modelIds.delete(id)
    state.futures.expire(future)
    throw error
  }
  begin(future, run)
  return { request_id: requestId, model_id: id }
}

/** Metadata as it is kept and shown: text. */
export function asText(metadata: Metadata): Record<string, string> {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(Object.entries(metadata ?? {}).map(([key, value]) => [key, text(value)]))
}

function readLora({ rank, seed, train_unembed, train_mlp, train_attn }: tinker.LoraConfig): Lora {
  if (!(train_unembed || train_mlp || train_attn)) {
    throw unprocessable(['body', 'lora_config'], 'one of train_unembed, train_mlp and train_attn must be true')
  }
  if (rank > 4096) throw unprocessable(['body', 'lora_config', 'rank'], 'the rank is at most 4096')
  return { rank, seed: safeSeed(seed ?? 0), train_unembed, train_mlp, train_attn }
}

/** Any whole number of 64 bits as one that an engine takes. */
export function safeSeed(seed: number): number {
  return Number.isSafeInteger(seed) ? seed : Number(BigInt.asUintN(52, BigInt(seed)))
}

function engineLora(lora: Lora | undefined): LoraSpec | undefined {
  if (lora === undefined) return undefined
  const { rank, seed, train_attn, train_mlp, train_unembed } = lora
  return { rank, seed, trainAttention: train_attn, trainMlp: train_mlp, trainUnembedding: train_unembed }
}

/** Refuses an optimiser other than Adam. */
export function checkOptimizer(config: tinker.OptimizerConfig | null | undefined): void {
  if (config == null || /^adam/i.test(config.type)) return
  throw unprocessable(['body', 'optimizer_config', 'type'], `no optimiser is called ${config.type}: use adam`)
}
