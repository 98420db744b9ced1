// Weights that leave a model and come back: checkpoints, snapshots, loads.
import * as tinker from '../../contracts/tinker/index.ts'
import { HttpError, unprocessable } from '../http/http-error.ts'
import type { Access } from '../state/access.ts'
import { pathOf } from '../state/checkpoint-files.ts'
import type { SaveSpec } from '../state/checkpoint-store.ts'
import type { TrainedModel, TrainerState } from '../state/trainer-state.ts'
import { plainAnswer } from '../wire/wire-data.ts'
import { asText, createFromCheckpoint, type Promised } from './create-model.ts'
import { addSampler, samplerIdOf } from './samplers.ts'
import { type Prepared, submit } from './train-model.ts'

export function submitSave(access: Access, request: tinker.SaveWeightsRequest, hash: string): Promised {
  return submit(access, request, hash, (model) => {
    const target = { folder: 'weights', ...saveTarget(request), overwrite: request.overwrite } as const
    return () => saveWork(access, model, target, (path) => ({ type: 'save_weights', path }))
  })
}

function saveTarget(request: Pick<tinker.SaveWeightsRequest, 'path' | 'seq_id' | 'ttl_seconds' | 'user_metadata'>) {
  const name = checkpointName(request)
  return { name, ttlSeconds: checkTtl(request.ttl_seconds), userMetadata: asText(request.user_metadata) }
}

/** A named sampler checkpoint, or weights that end with the session. */
export function submitSaveForSampler(
  access: Access,
  request: tinker.SaveWeightsForSamplerRequest,
  hash: string,
): Promised {
  const { path, sampling_session_seq_id: samplerSeq } = request
  return submit(access, request, hash, (model) => {
    if (path == null && samplerSeq != null) {
      return () => snapshotWork(access.state, model, samplerIdOf(model.run.session_id, samplerSeq), hash)
    }
    const target = { folder: 'sampler_weights', ...saveTarget(request), overwrite: false } as const
    const type = 'save_weights_for_sampler'
    return () => saveWork(access, model, target, (saved) => ({ type, path: saved, sampling_session_id: null }))
  })
}

/** `load_weights`: into a model that has done nothing yet, or as a new model. */
export async function submitLoad(access: Access, request: tinker.LoadWeightsRequest, hash: string): Promise<Promised> {
  const { model_id, session_id, model_seq_id, optimizer } = request
  const { state } = access
  const entry = await trainingCheckpoint(access, request.path)
  if (model_id == null) {
    if (session_id == null || model_seq_id == null) {
      throw unprocessable(['body', 'model_id'], 'give model_id and seq_id, or session_id and model_seq_id')
    }
    const metadata = request.user_metadata
    return createFromCheckpoint(access, { session_id, model_seq_id }, entry, { hash, optimizer, metadata })
  }
  return submit(access, { model_id, seq_id: request.seq_id }, hash, (model) => {
    if ((request.seq_id ?? 1) !== 1) {
      throw new HttpError(400, `LoadWeights is not permitted with seq_id ${request.seq_id}: load into a new model`)
    }
    if (entry.run.base_model !== model.run.base_model || entry.run.lora?.rank !== model.run.lora?.rank) {
      throw new HttpError(400, `${request.path} was saved by another kind of model: ${describe(entry.run)}`)
    }
    return () => ({
      work: async () => {
        const bytes = await state.checkpoints.read(entry)
        await state.run({ op: 'import', model: model.id, bytes, optimizer }, 'done')
        return plainAnswer({ type: 'load_weights', model_id: model.id, path: pathOf(entry) })
      },
    })
  })
}

function describe({ base_model, lora }: TrainedModel['run']): string {
  return `${base_model}, ${lora === undefined ? 'all weights' : `rank ${lora.rank}`}`
}

function snapshotWork(state: TrainerState, model: TrainedModel, id: string, hash: string): Prepared {
  const sessionId = model.run.session_id
  if (state.samplers.has(id) || model.saving.has(id)) {
    throw unprocessable(['body', 'sampling_session_seq_id'], `${id} exists already`, 'conflict')
  }
  model.saving.add(id)
  return {
    settled: () => void model.saving.delete(id),
    work: async () => {
      const bytes = await state.run({ op: 'export', model: model.id }, 'bytes')
      const source = { key: id, ...(await state.ephemeral.add(sessionId, bytes)) }
      addSampler(state, { id, sessionId, base: model.base, modelPath: undefined, source, hash })
      return plainAnswer({ type: 'save_weights_for_sampler', path: null, sampling_session_id: id })
    },
  }
}

type SaveTarget = Omit<SaveSpec, 'bytes'> & { overwrite: boolean }

function saveWork(
  access: Access,
  model: TrainedModel,
  { overwrite, ...target }: SaveTarget,
  answer: (path: string) => Readonly<Record<string, unknown>>,
): Prepared {
  const { state } = access
  const { folder, name } = target
  access.checkCheckpointQuota()
  const key = `${folder}/${name}`
  const exists = model.saving.has(key) || state.checkpoints.find({ runId: model.id, folder, name }) !== undefined
  // Not 409: official clients repeat that for five minutes, and everything after it waits.
  if (exists && !overwrite) {
    throw unprocessable(['body', 'path'], `a checkpoint called ${key} exists already: choose another name`, 'conflict')
  }
  model.saving.add(key)
  return {
    settled: () => void model.saving.delete(key),
    async work() {
      const op = folder === 'weights' ? 'export_state' : 'export'
      const bytes = await state.run({ op, model: model.id }, 'bytes')
      access.checkCheckpointQuota(bytes.length)
      return plainAnswer(answer(pathOf(await state.checkpoints.save(model.run, { ...target, bytes }))))
    },
  }
}

// Also the name of a file: 255 bytes with its extension, and nothing that is more than a name.
const nameForm = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,239}$/

function checkpointName({ path, seq_id }: Pick<tinker.SaveWeightsRequest, 'path' | 'seq_id'>): string {
  const name = path ?? `checkpoint-${String(seq_id ?? 0).padStart(6, '0')}`
  if (nameForm.test(name)) return name
  throw unprocessable(['body', 'path'], 'a name has letters, digits, dots, _ and -, at most 240 of them')
}

const longestTtl = 10 * 365 * 24 * 3600

export function checkTtl(seconds: number | null | undefined, status: 400 | 422 = 422): number | undefined {
  if (seconds == null) return undefined
  if (seconds > 0 && seconds <= longestTtl) return seconds
  const problem = `the time to live is positive and at most ${longestTtl} seconds, ten years`
  throw status === 422 ? unprocessable(['body', 'ttl_seconds'], problem) : new HttpError(400, `ttl_seconds: ${problem}`)
}

/** The training checkpoint at a path, or what is wrong with the path. */
async function trainingCheckpoint(access: Access, path: string) {
  const parsed = tinker.parseTinkerPath(path)
  if (parsed === undefined) throw unprocessable(['body', 'path'], 'expected tinker://<run>/weights/<name>')
  if (parsed.folder !== 'weights') {
    throw unprocessable(['body', 'path'], `${path} holds weights for sampling: training resumes from a weights path`)
  }
  return access.checkpoint(parsed)
}
