// Work on the weights of a model: passes, steps, and its end.
import type { Adam } from '../../contracts/index.ts'
import * as tinker from '../../contracts/tinker/index.ts'
import { type Loc, unprocessable } from '../http/http-error.ts'
import type { TrainerState } from '../state/trainer-state.ts'
import { metricsAnswer, passAnswer, plainAnswer } from '../wire/answers.ts'
import { readPass } from '../wire/read-pass.ts'
import { checkOptimizer, type Promised } from './create-model.ts'
import { type Numbered, submit } from './submit.ts'

/** `forward` and `forward_backward`. */
export function submitPass(
  state: TrainerState,
  request: Numbered & { input: tinker.ForwardBackwardInput; forwardOnly: boolean; loc: Loc },
  hash: string,
): Promised {
  return submit(state, request, hash, (model) => {
    const limits = { vocabSize: model.base.vocabSize, maxTokens: model.base.maxContext }
    const { data, loss } = readPass(request.input, limits, request.loc)
    const op = request.forwardOnly ? 'forward' : 'forward_backward'
    return () => ({
      work: async () => passAnswer(await state.run({ op, model: model.id, data, loss }, 'fwdBwd')),
    })
  })
}

export function submitOptimStep(state: TrainerState, request: tinker.OptimStepRequest, hash: string): Promised {
  return submit(state, request, hash, (model) => {
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
  return {
    learningRate: learning_rate,
    beta1,
    beta2,
    eps,
    ...(weight_decay === 0 ? {} : { weightDecay: weight_decay }),
    ...(grad_clip_norm === 0 ? {} : { gradClipNorm: grad_clip_norm }),
  }
}

/** `unload_model`: after everything that was asked of it before. */
export function submitUnload(state: TrainerState, request: tinker.ModelRequest): Promised {
  const model = state.model(request.model_id)
  const requestId = `${model.id}:unload`
  if (state.futures.find(requestId) === undefined) {
    const future = state.futures.open(requestId, { sessionId: model.run.session_id })
    state.enqueue(model.id, future, async () => {
      state.models.delete(model.id)
      await state.run({ op: 'unload', model: model.id }, 'done')
      return plainAnswer({ type: 'unload_model', model_id: model.id })
    })
  }
  return { request_id: requestId, model_id: model.id }
}
