// Start of a connection: flags, sessions, heartbeats, telemetry.
import * as z from 'zod'
import * as tinker from '../../contracts/tinker/index.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { jsonResponse } from '../http/in-process.ts'
import { createSampler } from '../operations/samplers.ts'
import { type Api, page } from './api.ts'

/** What this server asks of clients. Those before 0.25 send protobuf and forward passes as newer ones do on request. */
const clientConfig = {
  pjwt_auth_enabled: false,
  credential_default_source: 'api_key',
  parallel_fwdbwd_chunks: true,
  proto_compress_fwdbwd: false,
  use_pyqwest_transport: false,
  create_model_via_load_weights: true,
  sample_use_retrieve_futures: true,
  sample_join_sampling_session: true,
  custom_loss_server_side: false,
}

export function addSessionRoutes({ state, routes, json, post }: Api): void {
  routes.get('/healthz', (c) => c.json({ status: 'ok' }))
  post('/client/config', tinker.ClientConfigRequest, () => clientConfig)
  post('/client/dynamic_config', tinker.ClientConfigRequest, () => ({
    refresh_interval_sec: 300,
    sample_cancel_enabled: true,
  }))
  routes.get('/get_server_capabilities', async (c) => {
    const models = await state.catalog.list()
    return c.json({
      supported_models: models.map(({ name, maxContext }) => ({ model_name: name, max_context_length: maxContext })),
      engine_id: state.engineId,
    })
  })
  post('/telemetry', tinker.TelemetryRequest, () => ({ status: 'accepted' }))

  post('/create_session', tinker.CreateSessionRequest, async ({ user_metadata, project_id }, access) => {
    access.checkSessionQuota()
    const { id } = await state.sessions.create({
      userMetadata: user_metadata ?? {},
      projectId: project_id ?? undefined,
      tenant: access.tenant,
    })
    return { type: 'create_session', session_id: id, info_message: null, warning_message: null, error_message: null }
  })
  post('/session_heartbeat', tinker.SessionHeartbeatRequest, ({ session_id }, access) => {
    access.session(session_id)
    return { type: 'session_heartbeat' }
  })
  routes.get('/sessions', (c) => {
    const { limit, offset } = page(c.req.query())
    const sessions = c.env.sessions.toSorted((a, b) => b.createdMs - a.createdMs).map(({ id }) => id)
    return c.json({ sessions: sessions.slice(offset, offset + limit) })
  })
  routes.get('/sessions/:id', (c) => {
    const session = c.env.findSession(c.req.param('id'))
    if (session === undefined) throw notFound('there is no such session')
    const { modelIds, samplerIds, userMetadata } = session
    return c.json({ training_run_ids: [...modelIds], sampler_ids: [...samplerIds], user_metadata: userMetadata })
  })
  routes.put('/sessions/:id/project', async (c) => {
    const { value } = await json(c, z.object({ project_id: z.string().nullish() }))
    if (!value.project_id) throw new HttpError(400, 'project_id is missing')
    c.env.session(c.req.param('id')).projectId = value.project_id
    return c.body(null, 204)
  })
  routes.post('/sessions/:id/finish', async (c) => {
    const session = c.env.session(c.req.param('id'))
    await json(c, tinker.SessionFinishRequest)
    await state.endSession(session)
    return jsonResponse({})
  })

  post('/create_sampling_session', tinker.CreateSamplingSessionRequest, async (value, access, hash) => ({
    type: 'create_sampling_session',
    sampling_session_id: await createSampler(access, value, hash()),
  }))
  post('/join_sampling_session', tinker.JoinSamplingSessionRequest, ({ sampling_session_id }, access) => {
    const sampler = access.sampler(sampling_session_id)
    return { type: 'join_sampling_session', client_counter: ++sampler.copies }
  })
  routes.get('/samplers/:id', (c) => {
    const { id, base, modelPath } = c.env.sampler(c.req.param('id'))
    return c.json({ sampler_id: id, base_model: base.name, model_path: modelPath })
  })
  // Not part of the protocol: a run takes a snapshot at every step, and would keep all of them to its end.
  routes.delete('/samplers/:id', async (c) => {
    await state.removeSampler(c.env.sampler(c.req.param('id')))
    return c.body(null, 204)
  })
}
