// Work on models: every answer is a promise, except for the description of a model.
import type { Context } from 'hono'
import * as tinker from '../../contracts/tinker/index.ts'
import { onAbort } from '../../kernel/index.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { bytesResponse, jsonResponse } from '../http/in-process.ts'
import type { RawBody } from '../http/read-request.ts'
import { createModel } from '../operations/create-model.ts'
import { submitSample } from '../operations/samplers.ts'
import { submitLoad, submitSave, submitSaveForSampler } from '../operations/save-model.ts'
import { submitOptimStep, submitPass, submitUnload } from '../operations/train-model.ts'
import type { Failure, Future } from '../state/futures.ts'
import type { TrainerState } from '../state/trainer-state.ts'
import type { Api } from './api.ts'

export function addModelRoutes({ state, routes, body, parse, post }: Api): void {
  post('/create_model', tinker.CreateModelRequest, (value, hash) => createModel(state, value, hash()))
  post('/get_info', tinker.ModelRequest, ({ model_id }) => {
    const { id, run, base } = state.model(model_id)
    return {
      type: 'get_info',
      model_id: id,
      is_lora: run.lora !== undefined,
      lora_rank: run.lora?.rank ?? null,
      model_name: base.name,
      model_data: { arch: base.arch, model_name: base.name, tokenizer_id: base.tokenizerId },
      engine_id: state.engineId,
      max_context_length: base.maxContext,
    }
  })
  post('/unload_model', tinker.ModelRequest, (value) => submitUnload(state, value))

  routes.post('/forward_backward', async (c) => {
    const raw = await body(c.req.raw)
    const {
      forward_backward_input: input,
      forward_only,
      ...numbered
    } = raw.isProtobuf ? readProtobuf(raw) : parse(raw, tinker.ForwardBackwardRequest)
    const loc = ['body', 'forward_backward_input']
    return jsonResponse(submitPass(state, { ...numbered, input, forwardOnly: forward_only === true, loc }, raw.hash()))
  })
  post('/forward', tinker.ForwardRequest, ({ forward_input: input, ...numbered }, hash) =>
    submitPass(state, { ...numbered, input, forwardOnly: true, loc: ['body', 'forward_input'] }, `forward ${hash()}`),
  )
  post('/optim_step', tinker.OptimStepRequest, (value, hash) => submitOptimStep(state, value, `step ${hash()}`))
  post('/save_weights', tinker.SaveWeightsRequest, (value, hash) => submitSave(state, value, `save ${hash()}`))
  post('/save_weights_for_sampler', tinker.SaveWeightsForSamplerRequest, (value, hash) =>
    submitSaveForSampler(state, value, `sampler ${hash()}`),
  )
  post('/load_weights', tinker.LoadWeightsRequest, (value, hash) => submitLoad(state, value, `load ${hash()}`))
  post('/asample', tinker.SampleRequest, (value, hash) => submitSample(state, value, hash()))
}

function readProtobuf(raw: RawBody): tinker.ForwardBackwardRequest {
  try {
    return tinker.decodeForwardBackwardRequest(raw.bytes)
  } catch (error) {
    if (error instanceof tinker.WireError)
      throw new HttpError(400, `the body is no ForwardBackwardRequest: ${error.message}`)
    throw error
  }
}

// Asking for results. A poll is held until there is one, or until clients would give up on it.
export function addFutureRoutes({ state, routes, json, post }: Api): void {
  routes.post('/retrieve_future', async (c) => {
    const { value } = await json(c.req.raw, tinker.RetrieveFutureRequest)
    const future = findFuture(state, value.request_id)
    if (future.outcome === undefined) await held(state, future.settled, state.limits.holdMs, c.req.raw.signal)
    return respond(c, state, future, value.allow_metadata_only)
  })

  routes.post('/retrieve_futures', async (c) => {
    const { value } = await json(c.req.raw, tinker.RetrieveFuturesRequest)
    const { sampling_session_id: samplerId, cloned_sampler_id: copy } = value.target
    state.sampler(samplerId)
    for (const id of value.retrieved_request_ids) {
      const future = state.futures.find(id)
      if (future instanceof Object && future.samplerId === samplerId) state.futures.expire(future)
    }
    const since = () => state.completions.since(samplerId, copy, value.prev_cursor)
    if (since().completions.length === 0) {
      const holdMs = Math.min(state.limits.holdMs, (value.timeout ?? Number.POSITIVE_INFINITY) * 1000)
      await held(state, state.completions.news(samplerId, copy), Math.max(0, holdMs), c.req.raw.signal)
    }
    return jsonResponse(since())
  })

  post('/cancel_future', tinker.CancelFutureRequest, ({ request_id }) => {
    const future = findFuture(state, request_id)
    if ((future.job !== undefined && state.queue.remove(future.job)) || future.cancel !== undefined) {
      state.futures.settle(future, { failure: { error: 'cancelled', category: 'user' } })
      future.cancel?.()
    }
    return {}
  })
}

function findFuture(state: TrainerState, requestId: string): Future {
  const future = state.futures.find(requestId)
  if (future instanceof Object) {
    if (future.sessionId !== undefined) state.sessions.get(future.sessionId)
    return future
  }
  const wasThere = future === 'expired' || state.sessions.isPast(requestId) || isLostDirect(requestId)
  if (wasThere) throw new HttpError(410, `the result of ${requestId} is not kept any more: send its request again`)
  throw notFound(`no request is called ${requestId}`)
}

// Requests outside of a session are named by chance: one that is unknown here was made in an earlier process.
function isLostDirect(requestId: string): boolean {
  return /^direct:[0-9a-f-]{36}$/.test(requestId)
}

/** Waits for something, for so long at most, and no longer than the client does. */
async function held(state: TrainerState, wanted: Promise<void>, forMs: number, client: AbortSignal): Promise<void> {
  const enough = new AbortController()
  const stop = () => enough.abort(state.signal.reason)
  const stopListening = [client, state.signal].map((signal) => onAbort(signal, stop))
  await Promise.race([wanted, state.clock.sleep(forMs, enough.signal).catch(() => {})])
  for (const forget of stopListening) forget()
  enough.abort('enough')
}

function respond(c: Context, state: TrainerState, future: Future, mayAnnounce: boolean): Response {
  const { outcome, requestId } = future
  if (outcome === undefined) {
    const reason = state.futures.queueReason(future)
    return jsonResponse({ type: 'try_again', request_id: requestId, queue_state: 'active', queue_state_reason: reason })
  }
  if ('failure' in outcome) return jsonResponse(outcome.failure satisfies Failure)
  const { answer } = outcome
  if (mayAnnounce && answer.sizeBytes >= state.limits.announceBytes) {
    return jsonResponse({ status: 'complete_metadata', response_payload_size: answer.sizeBytes })
  }
  const wantsProtobuf = /application\/(x-)?protobuf/.test(c.req.header('accept') ?? '')
  if (!wantsProtobuf || answer.protobuf === undefined) return jsonResponse(answer.json())
  return bytesResponse(answer.protobuf(), 'application/x-protobuf')
}
