import { describe, expect, it } from 'vitest'
import { manualClock } from '../../src/kernel/index.ts'
import { datum, forwardBackward, runningTrainers } from './running-trainer.ts'

const start = runningTrainers()

describe('the start of a conversation', () => {
  it('answers the configuration to any client, known or not (conformance 1, 2) (TRN-1)', async () => {
    const trainer = await start()
    for (const body of [{ sdk_version: '0.16.1' }, { sdk_version: '99.0' }, {}]) {
      expect(await trainer.post('client/config', body)).toMatchObject({
        pjwt_auth_enabled: false,
        proto_compress_fwdbwd: false,
        use_pyqwest_transport: false,
      })
      expect(await trainer.post('client/dynamic_config', body)).toMatchObject({ refresh_interval_sec: 300 })
    }
    expect((await trainer.get('healthz')).body).toEqual({ status: 'ok' })
    expect((await trainer.get('get_server_capabilities')).body).toMatchObject({
      supported_models: [{ model_name: 'evsys/tiny', max_context_length: 131_072 }],
    })
  })

  it('takes requests with fields that it does not know (conformance 3) (TRN-1)', async () => {
    const trainer = await start()
    const future = { of_the_future: { deep: [1] } }
    const { session_id } = await trainer.post('create_session', { project_id: 'p', user_metadata: { a: 1 }, ...future })
    const made = await trainer.run('create_model', {
      session_id,
      model_seq_id: 0,
      base_model: 'evsys/tiny',
      lora_config: { rank: 4, ...future },
      user_metadata: { step: 1, name: 'x' },
      ...future,
    })
    const pass = { ...forwardBackward(String(made.model_id), 1, [{ ...datum([1, 2, 3]), ...future }]), ...future }
    expect(await trainer.run('forward_backward', pass)).toMatchObject({ loss_fn_output_type: 'ArrayRecord' })
    expect(await trainer.post('telemetry', { events: [{ event: 'SESSION_START', ...future }], ...future })).toEqual({
      status: 'accepted',
    })
  })

  it('needs no key unless one is set, and answers no page of another site (USE-291)', async () => {
    const open = await start()
    expect((await fetch(`${open.url}/v1/models`)).status).toBe(200)
    expect((await fetch(`${open.url}/api/v1/sessions`)).status).toBe(200)
    for (const key of ['', 'secret', 'tml-any'])
      expect((await open.send('client/config', {}, { 'x-api-key': key })).status).toBe(200)
    for (const [origin, status] of [
      ['https://evil.example', 403],
      ['http://localhost.evil.example', 403],
      ['http://localhost:3000', 200],
    ] as const) {
      expect((await open.send('client/config', {}, { origin })).status).toBe(status)
    }
  })

  it('wants a key where keys are set, and compares it with those it was given (TRN-1)', async () => {
    const closed = await start({ keys: ['tml-right', 'tml-other'] })
    for (const [key, status] of Object.entries({
      'tml-right': 200,
      'tml-other': 200,
      'tml-any': 401,
      'tml-righ': 401,
    })) {
      expect((await closed.send('client/config', {}, { 'x-api-key': key })).status).toBe(status)
    }
    const bearer = { headers: { 'x-api-key': '', authorization: 'Bearer tml-right' } }
    expect((await closed.request('/v1/models', { headers: { authorization: 'Bearer tml-right' } })).status).toBe(401)
    expect((await fetch(`${closed.url}/v1/models`, { headers: { authorization: 'Bearer tml-right' } })).status).toBe(
      200,
    )
    expect((await fetch(`${closed.url}/api/v1/sessions`, bearer)).status).toBe(401)
  })
})

describe('sessions', () => {
  it('have distinct ids, and a heartbeat that knows them (conformance 9, 10) (TRN-2)', async () => {
    const trainer = await start()
    const ids = [await trainer.session(), await trainer.session(), await trainer.session()]
    expect(new Set(ids).size).toBe(3)
    expect(await trainer.post('session_heartbeat', { session_id: ids[0] })).toEqual({ type: 'session_heartbeat' })
    expect((await trainer.send('session_heartbeat', { session_id: 'nobody' })).status).toBe(404)
    expect((await trainer.get('sessions?limit=2')).body.sessions).toHaveLength(2)
  })

  it('lose their models when they fall silent, and keep them while they are heard (conformance 11) (TRN-2)', async () => {
    const clock = manualClock(1_000_000)
    const trainer = await start({ clock, limits: { sessionMs: 60_000 } })
    const [silent, heard] = [await trainer.session(), await trainer.session()]
    const [lost, kept] = [await trainer.model(silent), await trainer.model(heard)]
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(30_000)
      await trainer.post('session_heartbeat', { session_id: heard })
    }
    expect((await trainer.send('get_info', { model_id: kept })).status).toBe(200)
    expect((await trainer.send('get_info', { model_id: lost })).status).toBe(404)
    expect((await trainer.send('session_heartbeat', { session_id: silent })).status).toBe(404)
    expect((await trainer.send('retrieve_future', { request_id: `${lost}:0` })).status).toBe(410)
  })

  it('name models and samplers by number, with colons raw or escaped (conformance 13) (TRN-2)', async () => {
    const trainer = await start()
    const session = await trainer.session()
    const model = await trainer.model(session, { seq: 3 })
    expect(model).toBe(`${session}:train:3`)
    const made = { session_id: session, sampling_session_seq_id: 5, base_model: 'evsys/tiny' }
    const { sampling_session_id: sampler } = await trainer.post('create_sampling_session', made)
    expect(sampler).toBe(`${session}:sample:5`)
    expect(await trainer.post('create_sampling_session', made)).toMatchObject({ sampling_session_id: sampler })
    for (const id of [String(sampler), encodeURIComponent(String(sampler))]) {
      expect((await trainer.get(`samplers/${id}`)).body).toEqual({ sampler_id: sampler, base_model: 'evsys/tiny' })
    }
    for (const id of [model, encodeURIComponent(model)]) {
      expect((await trainer.get(`training_runs/${id}`)).body).toMatchObject({ training_run_id: model })
    }
    expect((await trainer.get(`sessions/${session}`)).body).toMatchObject({
      training_run_ids: [model],
      sampler_ids: [sampler],
    })
    expect(await trainer.post('join_sampling_session', { sampling_session_id: sampler })).toMatchObject({
      client_counter: 1,
    })
  })

  it('end when they say so (TRN-2)', async () => {
    const trainer = await start()
    const session = await trainer.session()
    const model = await trainer.model(session)
    await trainer.post(`sessions/${session}/finish`, { reason: { type: 'success' } })
    expect((await trainer.send('get_info', { model_id: model })).status).toBe(404)
  })
})
