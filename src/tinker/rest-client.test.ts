import { describe, expect, it } from 'vitest'
import { openClient } from '../../tests/tinker-clients.ts'
import { manualClock } from '../kernel/index.ts'

const checkpoint = {
  checkpoint_id: 'weights/a',
  checkpoint_type: 'training',
  time: '2026-01-01T00:00:00Z',
  tinker_path: 'tinker://s:train:0/weights/a',
  unknown: 1,
}
const path = checkpoint.tinker_path
const route = '/api/v1/training_runs/s:train:0/checkpoints/weights/a'

describe('RestClient', () => {
  it('lists runs and checkpoints (TNK-24)', async () => {
    const run = {
      training_run_id: 's:train:0',
      base_model: 'm',
      model_owner: 'o',
      is_lora: true,
      last_request_time: '2026-01-01T00:00:00Z',
      last_checkpoint: checkpoint,
    }
    const cursor = { offset: 0, limit: 5, total_count: 1 }
    const { client, double } = await openClient({
      misbehave: ({ path: asked }) => {
        if (asked.startsWith('/api/v1/training_runs?')) return { json: { training_runs: [run], cursor } }
        if (asked.endsWith('/checkpoints')) return { json: { checkpoints: [checkpoint], cursor: null } }
        return asked.startsWith('/api/v1/training_runs/') ? { json: run } : undefined
      },
    })
    expect(await client.rest.runs({ limit: 5 })).toMatchObject({ training_runs: [{ corrupted: false }], cursor })
    expect(double.seen.at(-1)?.path).toBe('/api/v1/training_runs?limit=5&offset=0&access_scope=owned')
    expect(await client.rest.run('s:train:0')).toMatchObject({ training_run_id: 's:train:0' })
    const [only] = await client.rest.checkpointsOf('s:train:0')
    expect(only).toMatchObject({ tinker_path: path, public: false })
    expect(only).not.toHaveProperty('unknown')
  })

  it('deletes, publishes and dates checkpoints (TNK-24)', async () => {
    const { client, double } = await openClient({
      misbehave: ({ path: asked }) => (asked.startsWith(route) ? { status: 204 } : undefined),
    })
    await client.rest.deleteCheckpoint(path)
    await client.rest.publish(path)
    await client.rest.unpublish(path)
    await client.rest.setTtl(path, 60)
    expect(double.seen.slice(-4).map(({ method, path: asked, json }) => [method, asked, json])).toEqual([
      ['DELETE', route, {}],
      ['POST', `${route}/publish`, {}],
      ['DELETE', `${route}/publish`, {}],
      ['PUT', `${route}/ttl`, { ttl_seconds: 60 }],
    ])
    expect(() => client.rest.deleteCheckpoint('weights/a')).toThrow(/no path of a checkpoint/)
  })

  it('finds the archive by redirect or by answer, and waits while it is made (TNK-24) (conformance 59)', async () => {
    const clock = manualClock(5000)
    const expires = 'Thu, 01 Jan 2026 00:00:00 GMT'
    const replies = [
      { status: 302, headers: { location: 'http://127.0.0.1:1/signed', expires } },
      { status: 200, json: { url: 'http://127.0.0.1:1/x', expires: '2026-01-01T00:00:00Z' } },
      { status: 503, json: {} },
      { status: 503, json: {} },
      { status: 302, headers: { location: 'http://127.0.0.1:1/late' } },
    ]
    const { client, double } = await openClient({
      clock,
      misbehave: ({ path: asked }) => (asked === `${route}/archive` ? replies.shift() : undefined),
    })
    const expiresMs = Date.parse(expires)
    expect(await client.rest.archive(path)).toEqual({ url: 'http://127.0.0.1:1/signed', expiresMs })
    expect(await client.rest.archive(path)).toEqual({ url: 'http://127.0.0.1:1/x', expiresMs })
    const late = client.rest.archive(path)
    for (let wait = 0; wait < 2; wait++) {
      await clock.untilSleeping(1)
      await clock.advance(30_000)
    }
    expect(await late).toEqual({ url: 'http://127.0.0.1:1/late', expiresMs: clock.now() + 900_000 })
    expect(double.seen.filter(({ path: asked }) => asked.endsWith('/archive')).length).toBe(5)
  })

  it('gives up on an archive that never comes (TNK-24) (conformance 59)', async () => {
    const clock = manualClock()
    const { client } = await openClient({
      clock: { now: clock.now, sleep: (ms) => clock.advance(ms) },
      misbehave: ({ path: asked }) => (asked.endsWith('/archive') ? { status: 503, json: {} } : undefined),
    })
    await expect(client.rest.archive(path)).rejects.toThrow(/still being made/)
    expect(clock.now()).toBe(150_000)
  })

  it('does not try for minutes what a person waits for (TNK-24)', async () => {
    const clock = manualClock()
    const { client } = await openClient({
      clock: { now: clock.now, sleep: (ms) => clock.advance(ms) },
      misbehave: ({ path: asked }) => (asked.endsWith('/publish') ? { status: 500, json: {} } : undefined),
    })
    await expect(client.rest.publish(path)).rejects.toMatchObject({ status: 500 })
    expect(clock.now()).toBeLessThan(50_000)
  })

  it('makes a model from a saved one (TNK-25)', async () => {
    const info = { base_model: 'm', is_lora: true, lora_rank: 8, train_mlp: false }
    const { client, double } = await openClient({
      misbehave: ({ path: asked }) => (asked === '/api/v1/weights_info' ? { json: info } : undefined),
    })
    const model = await client.createModelFrom(path, { optimizer: true })
    expect(double.of('create_model')[0]?.json.lora_config).toMatchObject({
      rank: 8,
      train_mlp: false,
      train_attn: true,
    })
    expect(double.of('load_weights')[0]?.json).toMatchObject({
      model_id: model.modelId,
      seq_id: 1,
      path,
      optimizer: true,
    })
  })

  it('makes a model by loading, where the service offers that (TNK-25)', async () => {
    const { client, double } = await openClient({
      double: { flags: { create_model_via_load_weights: true } },
      misbehave: ({ path: asked }) => {
        if (asked === '/api/v1/load_weights') return { json: { request_id: 'made' } }
        return asked === '/api/v1/retrieve_future' ? { json: { type: 'load_weights' } } : undefined
      },
    })
    expect((await client.createModelFrom(path, { optimizer: false })).modelId).toBe('s0:train:0')
    expect(double.of('load_weights')[0]?.json).toEqual({
      session_id: 's0',
      model_seq_id: 0,
      path,
      optimizer: false,
      type: 'load_weights',
    })
  })
})
