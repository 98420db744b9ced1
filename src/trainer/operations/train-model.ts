// Work on the weights of a model: passes, steps, and its end.
import type { Adam } from '../../contracts/index.ts'
import * as tinker from '../../contracts/tinker/index.ts'
import { HttpError, type Loc, unprocessable } from '../http/http-error.ts'
import type { Access } from '../state/access.ts'
import type { Answer } from '../state/futures.ts'
import type { TrainedModel } from '../state/trainer-state.ts'
import { metricsAnswer, passAnswer, plainAnswer, readPass } from '../wire/wire-data.ts'
import { checkOptimizer, type Promised } from './create-model.ts'

/** `forward` and `forward_backward`. */
export function submitPass(
  access: Access,
  request: Numbered & { input: tinker.ForwardBackwardInput; forwardOnly: boolean; loc: Loc },
  hash: string,
): Promised {
  const { state } = access
  return submit(access, request, hash, (model) => {
    const limits = { vocabSize: model.base.vocabSize, maxTokens: model.base.maxContext }
    const { data, loss } = readPass(request.input, limits, request.loc)
    const op = request.forwardOnly ? 'forward' : 'forward_backward'
    return () => ({
      work: async () => passAnswer(await state.run({ op, model: model.id, data, loss }, 'fwdBwd')),
    })
  })
}

export function submitOptimStep(access: Access, request: tinker.OptimStepRequest, hash: string): Promised {
  const { state } = access
  return submit(access, request, hash, (model) => {
    checkOptimizer(request.optimizer_params)
    const adam = readAdam(request.adam_params ?? request.optimizer_params)
    return () => ({
      work: async () => metricsAnswer(await state.run({ op: 'optim_step', model: model.id, adam }, 'metrics')),
    })
  })
}

// Newer clients send the settings of Adam under another name.
function readAdam(settings: unknown): Adam {
  const parsed = tinker.AdamParams.safeParse(settings ?? {})
  if (!parsed.success) throw unprocessable(['body', 'adam_params'], parsed.error.issues[0]?.message ?? 'not valid')
  const { learning_rate, beta1, beta2, eps, weight_decay, grad_clip_norm } = parsed.data
  const [weightDecay, gradClipNorm] = [weight_decay || undefined, grad_clip_norm || undefined] // 0: none
  return { learningRate: learning_rate, beta1, beta2, eps, weightDecay, gradClipNorm }
}

/** `unload_model`: after everything that was asked of it before. */
export function submitUnload(access: Access, request: tinker.ModelRequest): Promised {
  const { state } = access
  const model = access.model(request.model_id)
  const requestId = `${model.id}:unload`
  if (state.futures.find(requestId) === undefined) {
    const owner = { tenant: model.run.tenant, sessionId: model.run.session_id }
    const future = state.futures.open(requestId, owner)
    state.enqueue(model.id, future, async () => {
      state.models.delete(model.id)
      await state.run({ op: 'unload', model: model.id }, 'done')
      return plainAnswer({ type: 'unload_model', model_id: model.id })
    })
  }
  return { request_id: requestId, model_id: model.id }
}

// How a request of a model becomes a promise: checked, recognised if it was sent before, queued.
type Numbered = { readonly model_id: string; readonly seq_id?: number | null | undefined }
export type Prepared = { readonly work: () => Promise<Answer>; readonly settled?: (() => void) | undefined }

// Checks first, then asks whether this is a repetition, then takes its number: a refused request uses its number up, since
// its client continues to count.
export function submit(
  access: Access,
  { model_id, seq_id }: Numbered,
  hash: string,
  check: (model: TrainedModel) => () => Prepared,
): Promised {
  const { state } = access
  const model = access.model(model_id)
  const seq = seq_id == null || seq_id === 0 ? undefined : seq_id
  try {
    if (model.lost !== undefined) throw new HttpError(410, model.lost)
    const prepare = check(model)
    const earlier = seq === undefined ? undefined : model.gate.earlier(seq, hash)
    if (earlier !== undefined) return { request_id: earlier, model_id }
    const { work, settled } = prepare()
    const requestId = `${model_id}:${seq ?? `at-${++unnumbered}`}`
    const owner = { tenant: model.run.tenant, sessionId: model.run.session_id }
    const future = state.futures.open(requestId, owner)
    if (settled !== undefined) void future.settled.then(settled)
    const begin = () => {
      future.waitsFor = undefined
      state.enqueue(model_id, future, work)
    }
    if (seq === undefined) begin()
    else {
      future.waitsFor = () => `waiting for the request with seq_id ${model.gate.missing} of this model`
      const fail = (missing: number) =>
        state.futures.settle(future, {
          failure: { error: `the request with seq_id ${missing} of this model never came`, category: 'user' },
        })
      model.gate.enter(seq, { hash, requestId }, { begin, fail })
    }
    return { request_id: requestId, model_id }
  } catch (error) {
    if (seq !== undefined && !(error instanceof HttpError && error.status === 409)) model.gate.skip(seq)
    throw error
  }
}

let unnumbered = 0
