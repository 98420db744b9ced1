// Work on models: every answer is a promise, except for the description of a model.
import * as tinker from '../../contracts/tinker/index.ts'
import { HttpError } from '../http/http-error.ts'
import type { RawBody } from '../http/read-body.ts'
import { createModel } from '../operations/create-model.ts'
import { submitSample } from '../operations/samplers.ts'
import { submitLoad, submitSave, submitSaveForSampler } from '../operations/save-model.ts'
import { submitOptimStep, submitPass, submitUnload } from '../operations/train-model.ts'
import { type Api, newRoutes, type Routes } from './api.ts'

export function modelRoutes({ state, json, body, parse }: Api): Routes {
  const routes = newRoutes()

  routes.post('/create_model', async (c) => {
    const { value, hash } = await json(c.req.raw, tinker.CreateModelRequest)
    return c.json(await createModel(state, value, hash))
  })
  routes.post('/get_info', async (c) => {
    const { value } = await json(c.req.raw, tinker.ModelRequest)
    const { id, run, base } = state.model(value.model_id)
    return c.json({
      type: 'get_info',
      model_id: id,
      is_lora: run.lora !== undefined,
      lora_rank: run.lora?.rank ?? null,
      model_name: base.name,
      model_data: { arch: base.arch, model_name: base.name, tokenizer_id: base.tokenizerId },
      engine_id: state.engineId,
      max_context_length: base.maxContext,
    })
  })
  routes.post('/unload_model', async (c) => {
    const { value } = await json(c.req.raw, tinker.ModelRequest)
    return c.json(submitUnload(state, value))
  })

  routes.post('/forward_backward', async (c) => {
    const raw = await body(c.req.raw)
    const {
      forward_backward_input: input,
      forward_only,
      ...numbered
    } = raw.isProtobuf ? readProtobuf(raw) : parse(raw, tinker.ForwardBackwardRequest)
    const loc = ['body', 'forward_backward_input']
    return c.json(submitPass(state, { ...numbered, input, forwardOnly: forward_only === true, loc }, raw.hash))
  })
  routes.post('/forward', async (c) => {
    const { value, hash } = await json(c.req.raw, tinker.ForwardRequest)
    const { forward_input: input, ...numbered } = value
    const loc = ['body', 'forward_input']
    return c.json(submitPass(state, { ...numbered, input, forwardOnly: true, loc }, `forward ${hash}`))
  })
  routes.post('/optim_step', async (c) => {
    const { value, hash } = await json(c.req.raw, tinker.OptimStepRequest)
    return c.json(submitOptimStep(state, value, `step ${hash}`))
  })
  routes.post('/save_weights', async (c) => {
    const { value, hash } = await json(c.req.raw, tinker.SaveWeightsRequest)
    return c.json(submitSave(state, value, `save ${hash}`))
  })
  routes.post('/save_weights_for_sampler', async (c) => {
    const { value, hash } = await json(c.req.raw, tinker.SaveWeightsForSamplerRequest)
    return c.json(submitSaveForSampler(state, value, `sampler ${hash}`))
  })
  routes.post('/load_weights', async (c) => {
    const { value, hash } = await json(c.req.raw, tinker.LoadWeightsRequest)
    return c.json(await submitLoad(state, value, `load ${hash}`))
  })
  routes.post('/asample', async (c) => {
    const { value, hash } = await json(c.req.raw, tinker.SampleRequest)
    return c.json(await submitSample(state, value, hash))
  })
  return routes
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
