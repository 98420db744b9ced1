import { describe, expect, it } from 'vitest'
import { adam, datum, openClient } from '../../tests/tinker-clients.ts'
import { startTinkerDouble, token } from '../../tests/tinker-double.ts'
import { manualClock } from '../kernel/index.ts'
import { createTinkerClient } from './index.ts'

describe('createTinkerClient', () => {
  it.each(['', '/', '///'])(
    'keeps the path of the base URL, with %j at its end (TNK-10) (conformance 4)',
    async (slashes) => {
      await using double = await startTinkerDouble({ prefix: '/services/prod' })
      await using client = await createTinkerClient({
        baseUrl: `${double.url}${slashes}`,
        apiKey: 'tml-a',
        heartbeatMs: 0,
      })
      expect(await client.health()).toEqual({ status: 'ok' })
      expect(double.seen.map(({ path }) => path)).toEqual(['/api/v1/client/config', '/api/v1/healthz'])
    },
  )

  it('sends its key with every request, and makes a session when one is needed (TNK-10) (conformance 5)', async () => {
    const { client, double, events } = await openClient()
    expect(double.of('create_session')).toEqual([])
    const model = await client.createModel({ baseModel: 'm', rank: 4, seed: 7 })
    expect(model.modelId).toBe('s0:train:0')
    expect(new Set(double.seen.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['tml-test']))
    expect(events).toContainEqual({ type: 'message', level: 'info', text: 'hello' })
    const [created] = double.of('create_model')
    expect(created?.json).toEqual({
      session_id: 's0',
      model_seq_id: 0,
      base_model: 'm',
      lora_config: { rank: 4, seed: 7, train_attn: true, train_mlp: true, train_unembed: true },
      type: 'create_model',
    })
  })

  it('exchanges its key for a token and renews it before it ends (TNK-10) (conformance 5)', async () => {
    const clock = manualClock(1_000_000_000)
    const tokens = [token(clock.now() + 1_000_000), token(clock.now() + 9_000_000)]
    let given = 0
    const { client, double } = await openClient({
      clock,
      double: { flags: { pjwt_auth_enabled: true } },
      misbehave: ({ path }) => (path === '/api/v1/auth/token' ? { json: { jwt: tokens[given++] } } : undefined),
    })
    const sent = () => double.of('healthz').at(-1)?.headers['x-api-key']
    await client.health()
    expect(sent()).toBe(tokens[0])
    await clock.advance(950_000)
    await client.health()
    expect(sent()).toBe(tokens[1])
    // The key itself asks for each token.
    expect(double.of('auth/token').map(({ headers }) => headers['x-api-key'])).toEqual(['tml-test', 'tml-test'])
  })

  it('sends no null and ignores what it does not know (TNK-10) (conformance 6) (conformance 7)', async () => {
    const { client, double } = await openClient({ preset: { ...(await plainPreset()), wire: 'json' } })
    const model = await client.createModel({ baseModel: 'm' })
    await model.forwardBackward([datum([1, 2, 3])], { name: 'cross_entropy' })
    await model.optimStep(adam)
    await model.saveState('a')
    await model.saveForSampler('b', { ttlSeconds: 60 })
    const sampler = await client.sampler({ samplingSessionId: await model.snapshot() })
    await sampler.sample({ prompt: Int32Array.of(1), numSamples: 1, maxTokens: 2, temperature: 1, seed: 1 })
    expect(await client.capabilities()).toEqual({ supported_models: [{ model_name: 'm', max_context_length: 64 }] })
    for (const { bytes } of double.seen) expect(Buffer.from(bytes).toString('utf8')).not.toContain('null')
    await client.rest.setTtl('tinker://r/weights/a', undefined).catch(() => {})
    expect(double.seen.at(-1)).toMatchObject({
      method: 'PUT',
      path: '/api/v1/training_runs/r/checkpoints/weights/a/ttl',
      json: { ttl_seconds: null },
    })
  })

  it('works with a service that has no flags, and says what it lacks before it connects (TNK-10)', async () => {
    const { client } = await openClient({
      misbehave: ({ path }) => (path === '/api/v1/client/config' ? { status: 404, json: {} } : undefined),
    })
    expect(client.flags.fwdbwd_max_chunk_len).toBe(1024)
    await expect(createTinkerClient({ preset: 'fireworks', apiKey: 'k' })).rejects.toThrow(/no address/)
    await expect(createTinkerClient({ preset: 'tinker' })).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
      fix: 'give apiKey.',
    })
  })

  it('repeats what may go away, and nothing else (TNK-11)', async () => {
    const statuses = [500, 503, 429, 408]
    const { client, double } = await openClient({
      clock: instantClock(),
      misbehave: ({ path }) =>
        path === '/api/v1/healthz' && statuses.length > 0 ? { status: statuses.shift() ?? 500, json: {} } : undefined,
    })
    await client.health()
    expect(double.of('healthz').length).toBe(5)
    for (const status of [400, 401, 403, 404, 409, 422]) {
      double.misbehave(({ path }) => (path === '/api/v1/healthz' ? { status, json: { detail: 'because' } } : undefined))
      const before = double.of('healthz').length
      await expect(client.health()).rejects.toMatchObject({ status, serverText: 'because', retryable: false })
      expect(double.of('healthz').length).toBe(before + 1)
    }
  })

  it('obeys the headers about repeating, and cut connections (TNK-11)', async () => {
    const replies = [
      { status: 409, json: {}, headers: { 'x-should-retry': 'true' } },
      'cut' as const,
      { status: 400, headers: { 'content-length': '0' } },
      { status: 500, json: {}, headers: { 'x-should-retry': 'false' } },
    ]
    const { client, double, events } = await openClient({
      clock: instantClock(),
      misbehave: ({ path }) => (path === '/api/v1/healthz' ? replies.shift() : undefined),
    })
    await expect(client.health()).rejects.toMatchObject({ status: 500 })
    expect(double.of('healthz').length).toBe(4)
    expect(events.filter(({ type }) => type === 'retry').length).toBe(3)
  })

  it('gives up after its time, and waits out a stop for billing (TNK-11)', async () => {
    const clock = instantClock()
    let pays = 0
    const { client } = await openClient({
      clock,
      double: { flags: { billing_exception_max_pause_duration_sec: 60 } },
      misbehave: ({ path }) => {
        if (path === '/api/v1/healthz') return { status: 502, json: {} }
        return path === '/api/v1/get_server_capabilities' && pays++ < 5 ? { status: 402, json: {} } : undefined
      },
    })
    const startedMs = clock.now()
    await expect(client.health()).rejects.toMatchObject({ status: 502 })
    expect(clock.now() - startedMs).toBeGreaterThanOrEqual(300_000)
    expect(clock.now() - startedMs).toBeLessThan(340_000)
    expect((await client.capabilities()).supported_models.length).toBe(1)
  })

  it('ends what is under way when its signal aborts (TNK-12)', async () => {
    const ending = new AbortController()
    const { client } = await openClient({
      signal: ending.signal,
      misbehave: ({ path }) => (path === '/api/v1/healthz' ? 'silence' : undefined),
    })
    const health = client.health()
    const reason = new Error('enough')
    ending.abort(reason)
    await expect(health).rejects.toBe(reason)
  })
})

async function plainPreset() {
  const { presets } = await import('./index.ts')
  return presets.evsys
}

/** A clock on which every wait is over at once. */
function instantClock() {
  const clock = manualClock(Date.now())
  return {
    now: clock.now,
    async sleep(ms: number, signal: AbortSignal) {
      signal.throwIfAborted()
      await clock.advance(ms)
    },
  }
}
