import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { mockVocabSize } from '../../src/backends/models/mock-models.ts'
import type { Engine } from '../../src/contracts/index.ts'
import { createMockEngine } from '../../src/engine/mock/mock-engine.ts'
import {
  datum,
  forwardBackward,
  type Json,
  optimStep,
  type RunningTrainer,
  runningTrainers,
} from './running-trainer.ts'

const start = runningTrainers()
const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] }
const sampling = { prompt, num_samples: 1, sampling_params: { max_tokens: 2 } }

/** What a client with this key says. */
function as(trainer: RunningTrainer, key: string) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await trainer.request(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, body: (isJson ? JSON.parse(text) : {}) as Json, headers: response.headers }
  }
  const post = (path: string, body: unknown) => ask('POST', path, body)
  const run = async (path: string, body: unknown): Promise<Json> => {
    const promised = await post(path, body)
    expect(promised.status, `${path}: ${JSON.stringify(promised.body)}`).toBe(200)
    for (;;) {
      const answer = await post('retrieve_future', { request_id: promised.body.request_id })
      if (answer.body.type !== 'try_again') return answer.body
    }
  }
  return {
    ask,
    post,
    run,
    get: (path: string) => ask('GET', path),
    async session() {
      const made = await post('create_session', { tags: [], sdk_version: 't' })
      expect(made.status).toBe(200)
      return String(made.body.session_id)
    },
  }
}

/** A session with a model that was trained and saved twice, and a sampler of it. */
async function lab(client: ReturnType<typeof as>, name: string) {
  const session_id = await client.session()
  const made = await client.run('create_model', {
    session_id,
    model_seq_id: 0,
    base_model: 'evsys/tiny',
    lora_config: { rank: 4 },
  })
  const model_id = String(made.model_id)
  await client.run('forward_backward', forwardBackward(model_id, 1, [datum([1, 2, 3])]))
  await client.run('optim_step', optimStep(model_id, 2))
  const state = await client.run('save_weights', { model_id, seq_id: 3, path: name })
  const weights = await client.run('save_weights_for_sampler', { model_id, seq_id: 4, path: name })
  const sampler = await client.post('create_sampling_session', {
    session_id,
    sampling_session_seq_id: 0,
    model_path: weights.path,
  })
  const sampler_id = String(sampler.body.sampling_session_id)
  const drawn = await client.post('asample', { ...sampling, sampling_session_id: sampler_id, seq_id: 1 })
  return {
    session_id,
    model_id,
    state: String(state.path),
    weights: String(weights.path),
    sampler_id,
    request_id: String(drawn.body.request_id),
  }
}

const route = (path: string) =>
  `training_runs/${path.slice('tinker://'.length).replace(/\/(weights|sampler_weights)\//, '/checkpoints/$1/')}`

describe('a trainer with several keys', () => {
  it('shows, samples, trains, downloads and deletes for each key only what it made (TRN-20)', async () => {
    const trainer = await start({ keys: ['owner:tml-o', 'tml-a', 'user:tml-b', 'read:tml-r'] })
    const [owner, a, b, reader] = ['tml-o', 'tml-a', 'tml-b', 'tml-r'].map((key) => as(trainer, key)) as [
      ReturnType<typeof as>,
      ReturnType<typeof as>,
      ReturnType<typeof as>,
      ReturnType<typeof as>,
    ]
    const of = await lab(a, 'mine')
    const session_id = await b.session()
    const run = route(of.state).split('/checkpoints/')[0] ?? ''

    // All that names what another key made is as unknown as what does not exist.
    const asked: [string, string, unknown?][] = [
      ['GET', `sessions/${of.session_id}`],
      ['PUT', `sessions/${of.session_id}/project`, { project_id: 'x' }],
      ['POST', `sessions/${of.session_id}/finish`, {}],
      ['POST', 'session_heartbeat', { session_id: of.session_id }],
      ['POST', 'create_model', { session_id: of.session_id, model_seq_id: 5, base_model: 'evsys/tiny' }],
      ['POST', 'get_info', { model_id: of.model_id }],
      ['POST', 'unload_model', { model_id: of.model_id }],
      ['POST', 'forward_backward', forwardBackward(of.model_id, 5, [datum([1, 2, 3])])],
      [
        'POST',
        'forward',
        { model_id: of.model_id, seq_id: 5, forward_input: { data: [datum([1, 2, 3])], loss_fn: 'cross_entropy' } },
      ],
      ['POST', 'optim_step', optimStep(of.model_id, 5)],
      ['POST', 'save_weights', { model_id: of.model_id, seq_id: 5, path: 'theft' }],
      ['POST', 'save_weights_for_sampler', { model_id: of.model_id, seq_id: 5, path: 'theft' }],
      ['POST', 'load_weights', { session_id, model_seq_id: 1, path: of.state, optimizer: true }],
      ['POST', 'create_sampling_session', { session_id, sampling_session_seq_id: 1, model_path: of.weights }],
      ['POST', 'join_sampling_session', { sampling_session_id: of.sampler_id }],
      ['GET', `samplers/${of.sampler_id}`],
      ['DELETE', `samplers/${of.sampler_id}`],
      ['POST', 'asample', { ...sampling, sampling_session_id: of.sampler_id, seq_id: 9 }],
      ['POST', 'asample', { ...sampling, model_path: of.weights }],
      ['POST', 'retrieve_future', { request_id: of.request_id }],
      [
        'POST',
        'retrieve_futures',
        {
          target: { sampling_session_id: of.sampler_id, cloned_sampler_id: 0 },
          prev_cursor: 0,
          retrieved_request_ids: [of.request_id],
          timeout: 0,
        },
      ],
      ['POST', 'cancel_future', { request_id: of.request_id }],
      ['GET', run],
      ['GET', `${run}/checkpoints`],
      ['DELETE', route(of.state)],
      ['POST', `${route(of.state)}/publish`],
      ['PUT', `${route(of.state)}/ttl`, { ttl_seconds: 1 }],
      ['GET', `${route(of.weights)}/archive`],
      ['POST', 'weights_info', { tinker_path: of.state }],
      ['POST', '/v1/completions', { model: of.weights, prompt: 'a', max_tokens: 1 }],
      [
        'POST',
        '/v1/chat/completions',
        { model: of.weights, messages: [{ role: 'user', content: 'a' }], max_tokens: 1 },
      ],
      ['GET', `/v1/models/${of.weights}`],
    ]
    for (const [method, path, body] of asked)
      expect([path, (await b.ask(method, path, body)).status]).toEqual([path, 404])

    const lists = async (client: ReturnType<typeof as>) =>
      JSON.stringify(
        await Promise.all(
          ['sessions', 'training_runs', 'checkpoints', '/v1/models'].map(async (path) => (await client.get(path)).body),
        ),
      )
    const names = [of.session_id, of.model_id, of.state, of.weights]
    for (const name of names) expect((await lists(b)).includes(name)).toBe(false)
    for (const client of [a, owner, reader])
      for (const name of names) expect((await lists(client)).includes(name)).toBe(true)

    // A malformed request for another key's model must not use up that model's numbers.
    await b.post('optim_step', { model_id: of.model_id, seq_id: 5, adam_params: { learning_rate: 'x' } })
    expect(await a.run('optim_step', optimStep(of.model_id, 5))).toHaveProperty('metrics')

    // The reader sees all and changes nothing; the owner may do everything.
    expect((await reader.get(`${route(of.weights)}/archive`)).status).toBe(302)
    for (const [method, path, body] of asked.filter(
      ([method, path]) => method !== 'GET' && !/get_info|weights_info/.test(path),
    ))
      expect([path, (await reader.ask(method, path, body)).status]).toEqual([path, 403])
    expect((await owner.post('get_info', { model_id: of.model_id })).status).toBe(200)

    // What is published is for every key to read, and for its maker alone to change.
    expect((await a.post(`${route(of.weights)}/publish`, {})).status).toBe(204)
    expect((await b.post('/v1/completions', { model: of.weights, prompt: 'a', max_tokens: 1 })).status).toBe(200)
    expect((await b.ask('DELETE', route(of.weights))).status).toBe(403)
    expect((await owner.ask('DELETE', route(of.weights))).status).toBe(204)
  })

  it('knows after a restart whose checkpoints they are (TRN-20)', async () => {
    const first = await start({ keys: ['tml-a', 'tml-b'] })
    const of = await lab(as(first, 'tml-a'), 'kept')
    await first[Symbol.asyncDispose]()
    const again = await start({ dir: first.dir, keys: ['tml-a', 'tml-b'] })
    expect((await as(again, 'tml-a').post('weights_info', { tinker_path: of.state })).status).toBe(200)
    expect((await as(again, 'tml-b').post('weights_info', { tinker_path: of.state })).status).toBe(404)
    expect((await as(again, 'tml-b').get('checkpoints')).body.checkpoints).toEqual([])
  })

  it('holds each key to its quota, and leaves the others alone (TRN-21)', async () => {
    const engine = heldEngine()
    const quota = { models: 1, checkpoints: 2, bytes: 1 << 20, samples: 3 }
    const trainer = await start({ keys: ['tml-a', 'tml-b'], quota, engine, limits: { holdMs: 1 } })
    const [a, b] = [as(trainer, 'tml-a'), as(trainer, 'tml-b')]
    const of = await lab(a, 'one')
    const more = await a.post('create_model', { session_id: of.session_id, model_seq_id: 1, base_model: 'evsys/tiny' })
    expect([more.status, more.body.detail]).toEqual([400, expect.stringContaining('limit of this key')])
    const third = await a.post('save_weights', { model_id: of.model_id, seq_id: 5, path: 'two' })
    expect([third.status, third.body.detail]).toEqual([400, expect.stringContaining('delete some')])
    await lab(b, 'one')

    engine.hold()
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => a.post('asample', { ...sampling, base_model: 'evsys/tiny' })),
    )
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429])
    expect(sent.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1')
    expect((await b.post('asample', { ...sampling, base_model: 'evsys/tiny' })).status).toBe(200)
    engine.release()
  })
})

/** The mock engine, which keeps samples back while it is told to, and counts what it was asked to stop. */
function heldEngine() {
  const engine = createMockEngine({ vocabSize: mockVocabSize })
  let held: Promise<void> | undefined
  let release = () => {}
  const seen = { cancelled: 0, drawn: 0 }
  const run: Engine['run'] = async (op, signal) => {
    if (op.op === 'sample' && held !== undefined) {
      const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      aborted.catch(() => seen.cancelled++)
      await Promise.race([held, aborted])
    }
    if (op.op === 'sample') seen.drawn++
    return engine.run(op, signal)
  }
  return {
    id: engine.id,
    run,
    seen,
    hold() {
      held = new Promise((resolve) => {
        release = resolve
      })
    },
    release() {
      held = undefined
      release()
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

describe('what keys leave behind', () => {
  const over = { reason: { type: 'success' } }

  it('sessions are bounded per key, and leave no file where nothing was made in them (TRN-460)', async () => {
    const trainer = await start({ keys: ['tml-a', 'tml-b'], quota: { sessions: 3 } })
    const [a, b] = [as(trainer, 'tml-a'), as(trainer, 'tml-b')]
    const mine = [await a.session(), await a.session(), await a.session()]
    const fourth = await a.post('create_session', { tags: [], sdk_version: 't' })
    expect([fourth.status, fourth.headers.get('retry-after')]).toEqual([429, '1'])
    await b.session()
    for (const id of mine) await a.post(`sessions/${id}/finish`, over)
    expect(readdirSync(join(trainer.dir, 'sessions'))).toHaveLength(1)
    const of = await lab(a, 'one')
    await a.post(`sessions/${of.session_id}/finish`, over)
    expect(readdirSync(join(trainer.dir, 'sessions'))).toContain(of.session_id)
    expect((await a.post('retrieve_future', { request_id: of.request_id })).status).toBe(410)
  })

  it('runs that saved nothing are forgotten but for the last ones of each key (TRN-460)', async () => {
    const trainer = await start({ keys: ['tml-a', 'tml-b'], limits: { sessionMs: 4000 } })
    const [a, b] = [as(trainer, 'tml-a'), as(trainer, 'tml-b')]
    const of = await lab(b, 'kept')
    const folders = () => readdirSync(join(trainer.dir, 'runs')).length
    for (let at = 0; at < 230; at += 10) {
      const session_id = await a.session()
      for (let model_seq_id = 0; model_seq_id < 10; model_seq_id++)
        await a.post('create_model', { session_id, model_seq_id, base_model: 'evsys/tiny', lora_config: { rank: 1 } })
      await a.post(`sessions/${session_id}/finish`, over)
    }
    while (folders() > 201) await pause(10)
    expect(folders()).toBe(201)
    expect((await b.post('weights_info', { tinker_path: of.state })).status).toBe(200)
  })

  it('results of a key that holds most go first, and those of no session that no client asks for (TRN-460)', async () => {
    const keepBytes = 20_000
    const trainer = await start({ keys: ['tml-a', 'tml-b'], limits: { keepBytes } })
    const [a, b] = [as(trainer, 'tml-a'), as(trainer, 'tml-b')]
    const of = await lab(b, 'one')
    await b.post('retrieve_future', { request_id: of.request_id })
    const sent: string[] = []
    for (let at = 0; at < 40; at++)
      sent.push(String((await a.post('asample', { ...sampling, base_model: 'evsys/tiny' })).body.request_id))
    const [first = '', last = ''] = [sent[0], sent.at(-1)]
    expect((await a.post('retrieve_future', { request_id: last })).status).toBe(200)
    expect((await a.post('retrieve_future', { request_id: first })).status).toBe(410)
    expect((await b.post('retrieve_future', { request_id: of.request_id })).status).toBe(200)
    await trainer[Symbol.asyncDispose]()

    const quick = as(await start({ limits: { abandonMs: 200, sessionMs: 400 } }), 'tml-a')
    const { request_id } = (await quick.post('asample', { ...sampling, base_model: 'evsys/tiny' })).body
    for (let waitMs = 200; ; waitMs *= 2) {
      await pause(waitMs) // a question would keep it
      if ((await quick.post('retrieve_future', { request_id })).status === 410) break
    }
  })

  it('bodies that are read at once are bounded per key, and the other keys are not affected (TRN-460)', async () => {
    const engine = heldEngine()
    const requestBytes = 4 << 20
    const trainer = await start({ keys: ['tml-a', 'tml-b'], engine, limits: { holdMs: 1, requestBytes } })
    const [a, b] = [as(trainer, 'tml-a'), as(trainer, 'tml-b')]
    const session_id = await a.session()
    const made = await a.run('create_model', {
      session_id,
      model_seq_id: 0,
      base_model: 'evsys/tiny',
      lora_config: { rank: 1 },
    })
    // Its numbers leave a gap, so that they wait with their data.
    const large = (seq: number) => ({
      ...forwardBackward(String(made.model_id), seq, [datum(Array.from({ length: 60_000 }, (_, at) => at % 50))]),
    })
    const statuses: number[] = []
    for (let seq = 3; seq < 12; seq++) statuses.push((await a.post('forward_backward', large(seq))).status)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect((await b.post('forward_backward', large(3))).status).toBe(404)
    await a.post(`sessions/${session_id}/finish`, over)
    const again = await a.session()
    const next = await a.run('create_model', {
      session_id: again,
      model_seq_id: 0,
      base_model: 'evsys/tiny',
      lora_config: { rank: 1 },
    })
    expect((await a.post('forward_backward', { ...large(3), model_id: next.model_id })).status).toBe(200)
  })
})

describe('a client that is gone', () => {
  it('takes its completions with it, those that wait and those that are drawn (TRN-22)', async () => {
    const engine = heldEngine()
    engine.hold()
    const trainer = await start({ engine, limits: { holdMs: 1 } })
    const body = JSON.stringify({ model: 'evsys/tiny', prompt: 'a', max_tokens: 500 })
    const leaving = new AbortController()
    const gone = Array.from({ length: 300 }, () =>
      trainer
        .request('/v1/completions', { method: 'POST', body, signal: leaving.signal })
        .catch((error: Error) => error.name),
    )
    await pause(0)
    const last = await trainer.post('asample', { ...sampling, base_model: 'evsys/tiny' })
    leaving.abort()
    expect(new Set(await Promise.all(gone))).toEqual(new Set(['AbortError']))
    let reason: unknown
    while (reason !== 'running') reason = (await trainer.post('retrieve_future', last)).queue_state_reason
    engine.release()
    expect(await trainer.result(last)).toHaveProperty('sequences')
    expect(engine.seen.drawn).toBe(1)
  })

  it('has its samples outside of a session cancelled when it does not ask for them (TRN-22)', async () => {
    const engine = heldEngine()
    engine.hold()
    const trainer = await start({ engine, limits: { holdMs: 1, sessionMs: 40, abandonMs: 40 } })
    const promise = await trainer.post('asample', { ...sampling, base_model: 'evsys/tiny' })
    while (engine.seen.cancelled === 0) await pause(5)
    expect(await trainer.post('retrieve_future', promise)).toEqual({
      error: 'nobody asks for it any more',
      category: 'user',
    })
    engine.release()
  })
})

describe('bad numbers and names', () => {
  it('are refused where they are sent, and break no list (TRN-23)', async () => {
    const trainer = await start()
    const session = await trainer.session()
    const model_id = await trainer.model(session)
    const huge = await trainer.send('save_weights', {
      model_id,
      seq_id: 1,
      path: 'a',
      ttl_seconds: Number.MAX_SAFE_INTEGER,
    })
    expect(huge.status).toBe(422)
    const { path } = await trainer.run('save_weights', { model_id, seq_id: 2, path: 'a' })
    const put = await trainer.request(`${route(String(path))}/ttl`, {
      method: 'PUT',
      body: JSON.stringify({ ttl_seconds: 2 ** 53 - 1 }),
    })
    expect(put.status).toBe(400)
    expect(
      (await trainer.send('asample', { ...sampling, base_model: 'evsys/tiny', num_samples: 100_000 })).status,
    ).toBe(422)
    expect(
      (await trainer.send('/v1/completions', { model: 'evsys/tiny', prompt: 'a', n: 100_000 })).status,
    ).toBeGreaterThanOrEqual(400)
    expect((await trainer.get('checkpoints')).status).toBe(200)
  })

  it('long names that are not ASCII are unknown, and no answer names a file of this machine (TRN-23)', async () => {
    const trainer = await start()
    const name = 'ü'.repeat(200)
    const session = await trainer.session()
    const answers = [
      await trainer.send('weights_info', { tinker_path: `tinker://${name}/weights/a` }),
      await trainer.send('weights_info', { tinker_path: `tinker://a/weights/${name}` }),
      await trainer.send('asample', { ...sampling, model_path: `tinker://${name}/sampler_weights/${name}` }),
      await trainer.send('load_weights', {
        session_id: session,
        model_seq_id: 1,
        path: `tinker://${name}/weights/a`,
        optimizer: true,
      }),
      await trainer.send('/v1/completions', { model: `tinker://a/sampler_weights/${name}`, prompt: 'a' }),
    ]
    for (const { status, body } of answers) {
      expect([404, 422]).toContain(status)
      expect(JSON.stringify(body)).not.toContain(trainer.dir)
    }
  })

  it('a record that no date can hold is shown all the same (TRN-23)', async () => {
    const first = await start()
    const model_id = await first.model(await first.session())
    await first.run('save_weights', { model_id, seq_id: 1, path: 'a' })
    await first[Symbol.asyncDispose]()
    const folder = join(first.dir, 'runs', readdirSync(join(first.dir, 'runs'))[0] ?? '', 'weights')
    const file = join(folder, 'a.json')
    const record = { ...JSON.parse(readFileSync(file, 'utf8')), expires_ms: 9e18, created_ms: -1e300 }
    writeFileSync(file, JSON.stringify(record))
    const again = await start({ dir: first.dir })
    expect((await again.get('checkpoints')).body.checkpoints).toEqual([expect.objectContaining({ expires_at: null })])
    expect((await again.get('training_runs')).status).toBe(200)
  })

  it('bodies that would become gigabytes are refused before they do (TRN-23)', async () => {
    const trainer = await start()
    const send = async (body: Uint8Array, headers: Record<string, string>) => {
      const response = await trainer.request('forward_backward', { method: 'POST', body: Buffer.from(body), headers })
      return response.status
    }
    const json = { 'content-type': 'application/json' }
    const protobuf = { 'content-type': 'application/x-protobuf' }
    expect(await send(Buffer.from(`{"data":[${'{},'.repeat(2_000_000)}{}]}`), json)).toBe(413)
    expect(await send(Buffer.alloc(34 << 20, 0x20), json)).toBe(413)
    // Field 3, length 0: an empty datum in two bytes.
    expect(await send(Buffer.alloc(8 << 20, Buffer.from([0x1a, 0x00])), protobuf)).toBe(400)
    expect((await trainer.get('/api/v1/healthz')).status).toBe(200)
  })
})
