// Work on models: every answer is a promise, except for the description of a model.
import { setImmediate } from 'node:timers/promises'
import type { Context } from 'hono'
import type * as z from 'zod'
import * as tinker from '../../contracts/tinker/index.ts'
import { onAbort } from '../../kernel/index.ts'
import { HttpError } from '../http/http-error.ts'
import { bytesResponse, jsonResponse } from '../http/in-process.ts'
import type { RawBody } from '../http/read-request.ts'
import { createModel, type Promised } from '../operations/create-model.ts'
import { submitSample } from '../operations/samplers.ts'
import { submitLoad, submitSave, submitSaveForSampler } from '../operations/save-model.ts'
import { submitOptimStep, submitPass, submitUnload } from '../operations/train-model.ts'
import type { Access } from '../state/access.ts'
import type { Failure, Future } from '../state/futures.ts'
import type { TrainerState } from '../state/trainer-state.ts'
import type { Api, Env } from './api.ts'

export function addModelRoutes({ state, routes, body, parse, json, post }: Api): void {
  /** Adds a route from a JSON body to the promise of a result. */
  const submit = <S extends z.ZodType>(
    path: string,
    schema: S,
    start: (access: Access, value: z.output<S>, hash: () => string) => Promised | Promise<Promised>,
  ) =>
    routes.post(path, async (c) => {
      const { value, hash } = await json(c, schema)
      return accepted(c, state, await start(c.env, value, hash))
    })

  submit('/create_model', tinker.CreateModelRequest, (access, value, hash) => createModel(access, value, hash()))
  post('/get_info', tinker.ModelRequest, ({ model_id }, access) => {
    const { id, run, base } = access.model(model_id)
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
  submit('/unload_model', tinker.ModelRequest, (access, value) => submitUnload(access, value))

  routes.post('/forward_backward', async (c) => {
    const raw = await body(c)
    const {
      forward_backward_input: input,
      forward_only,
      ...numbered
    } = raw.isProtobuf ? readProtobuf(raw) : parse(c.env, raw, tinker.ForwardBackwardRequest)
    const loc = ['body', 'forward_backward_input']
    const pass = { ...numbered, input, forwardOnly: forward_only === true, loc }
    return acceptedPass(c, state, submitPass(c.env, pass, raw.hash()))
  })
  routes.post('/forward', async (c) => {
    const { value, hash } = await json(c, tinker.ForwardRequest)
    const { forward_input: input, ...numbered } = value
    const pass = { ...numbered, input, forwardOnly: true, loc: ['body', 'forward_input'] }
    return acceptedPass(c, state, submitPass(c.env, pass, `forward ${hash()}`))
  })
  submit('/optim_step', tinker.OptimStepRequest, (access, value, hash) =>
    submitOptimStep(access, value, `step ${hash()}`),
  )
  submit('/save_weights', tinker.SaveWeightsRequest, (access, value, hash) =>
    submitSave(access, value, `save ${hash()}`),
  )
  submit('/save_weights_for_sampler', tinker.SaveWeightsForSamplerRequest, (access, value, hash) =>
    submitSaveForSampler(access, value, `sampler ${hash()}`),
  )
  submit('/load_weights', tinker.LoadWeightsRequest, (access, value, hash) =>
    submitLoad(access, value, `load ${hash()}`),
  )
  post('/asample', tinker.SampleRequest, (value, access, hash) => submitSample(access, value, hash()))
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

// The data of a pass are held until it is done.
function acceptedPass(c: Context<Env>, state: TrainerState, promised: Promised): Promise<Response> {
  state.bodies.holdUntil(c.req.raw, c.env.future(promised.request_id).settled)
  return accepted(c, state, promised)
}

// Our client in this process asks for a result along with the work, and gets it where the engine has it within a turn of the event
// loop. Others are sent a promise, and poll.
async function accepted(c: Context<Env>, state: TrainerState, promised: Promised): Promise<Response> {
  if (c.req.raw.headers.get('prefer') !== tinker.wantsResult) return jsonResponse(promised)
  const future = c.env.future(promised.request_id)
  if (future.outcome === undefined) await Promise.race([future.settled, setImmediate()])
  if (future.outcome === undefined) return jsonResponse(promised)
  return respond(c, state, future, { mayAnnounce: true, headers: { [tinker.requestIdHeader]: promised.request_id } })
}

// Asking for results. A poll is held until there is one, or until clients would give up on it.
export function addFutureRoutes({ state, routes, json, post }: Api): void {
  routes.post('/retrieve_future', async (c) => {
    const { value } = await json(c, tinker.RetrieveFutureRequest)
    const future = c.env.future(value.request_id)
    future.silentMs = 0
    if (future.outcome === undefined) await held(state, future.settled, state.limits.holdMs, c.req.raw.signal)
    return respond(c, state, future, { mayAnnounce: value.allow_metadata_only })
  })

  routes.post('/retrieve_futures', async (c) => {
    const { value } = await json(c, tinker.RetrieveFuturesRequest)
    const { sampling_session_id: samplerId, cloned_sampler_id: copy } = value.target
    c.env.sampler(samplerId)
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

  post('/cancel_future', tinker.CancelFutureRequest, ({ request_id }, access) => {
    const future = access.future(request_id)
    const isWaiting = future.job !== undefined && state.queue.remove(future.job)
    if (isWaiting || future.cancel !== undefined) state.futures.cancel(future, 'cancelled')
    return {}
  })
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

type Reply = { readonly mayAnnounce: boolean; readonly headers?: Readonly<Record<string, string>> | undefined }

function respond(c: Context<Env>, state: TrainerState, future: Future, { mayAnnounce, headers }: Reply): Response {
  const { outcome, requestId } = future
  if (outcome === undefined) {
    const reason = state.futures.queueReason(future)
    return jsonResponse({ type: 'try_again', request_id: requestId, queue_state: 'active', queue_state_reason: reason })
  }
  if ('failure' in outcome) {
    future.isRead = true
    return jsonResponse(outcome.failure satisfies Failure, headers)
  }
  const { answer } = outcome
  if (mayAnnounce && answer.sizeBytes >= state.limits.announceBytes) {
    return jsonResponse({ status: 'complete_metadata', response_payload_size: answer.sizeBytes }, headers)
  }
  future.isRead = true
  const wantsProtobuf = /application\/(x-)?protobuf/.test(c.req.header('accept') ?? '')
  if (!wantsProtobuf || answer.protobuf === undefined) return jsonResponse(answer.json(), headers)
  return bytesResponse(answer.protobuf(), 'application/x-protobuf', headers)
}
