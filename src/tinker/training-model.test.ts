import { describe, expect, it } from 'vitest'
import { adam, bigramEngine, datum, openClient } from '../../tests/tinker-clients.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { manualClock, unpackZstd } from '../kernel/index.ts'
import { presets, type ServiceError } from './index.ts'

const crossEntropy = { name: 'cross_entropy' }
const numbered = (seen: { json: Record<string, unknown>; bytes: Uint8Array; path: string }): number =>
  seen.path.endsWith('forward_backward') && seen.json.seq_id === undefined
    ? (tinker.decodeForwardBackwardRequest(seen.bytes).seq_id ?? 0)
    : Number(seen.json.seq_id)

describe('TrainingModel', () => {
  it('keeps the order of 100 interleaved calls without awaiting any (TNK-13) (conformance 41)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    const futures = Array.from({ length: 100 }, (_, index) =>
      index % 2 === 0 ? model.forwardBackward([datum([index, 2])], crossEntropy) : model.optimStep(adam),
    )
    const submitted = await Promise.all(futures.map((future) => future.submitted))
    await Promise.all<unknown>(futures)
    expect(submitted.map(({ seqs }) => seqs)).toEqual(Array.from({ length: 100 }, (_, index) => [index + 1]))
    const posts = double.seen.filter(({ path }) => /optim_step|forward_backward/.test(path))
    expect(posts.map(numbered)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })

  it('sends the next request when the one before is accepted, not when it is done (TNK-13)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path, json }) =>
      path === '/api/v1/retrieve_future' && json.request_id === 's0:train:0:1' ? 'silence' : undefined,
    )
    const pass = model.forwardBackward([datum([1, 2])], crossEntropy)
    await model.optimStep(adam)
    expect((await pass.submitted).requestIds).toEqual(['s0:train:0:1'])
    expect(model.brokenAt).toBeUndefined()
  })

  it('splits 3000 datums into 3 requests and reduces their metrics by datum (TNK-14) (conformance 40)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    await model.optimStep(adam)
    const future = model.forwardBackward(
      Array.from({ length: 3000 }, (_, index) => datum([index < 1024 ? 10 : index < 2048 ? 20 : 30, 1])),
      crossEntropy,
    )
    const { outputs, metrics } = await future
    expect(await future.submitted).toMatchObject({ seqs: [2, 3, 4] })
    expect(outputs.length).toBe(3000)
    expect(metrics['loss:sum']).toBe(3000)
    expect(metrics['first:mean']).toBeCloseTo((1024 * 10 + 1024 * 20 + 952 * 30) / 3000, 9)
    expect(metrics['first:max']).toBe(30)
    // The first part is sent last, so that the service begins with all of them.
    expect(double.of('forward_backward').map(numbered).at(-1)).toBe(2)
  })

  it('gives the result of failed work as an error with id, category and number (TNK-15) (conformance 18)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path, json }) =>
      path === '/api/v1/retrieve_future' && json.request_id === 's0:train:0:1'
        ? { json: { error: 'token 9 is unknown', category: 'user' } }
        : undefined,
    )
    const failed = model.forwardBackward([datum([9, 2])], crossEntropy)
    await expect(failed).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
      kind: 'failed',
      category: 'user',
      requestId: 's0:train:0:1',
      serverText: 'token 9 is unknown',
      seq: 1,
    })
    await model.optimStep(adam)
  })

  it('surfaces a lost promise (TNK-15) (conformance 19)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path }) => (path === '/api/v1/retrieve_future' ? { status: 410, json: {} } : undefined))
    await expect(model.optimStep(adam)).rejects.toMatchObject({ kind: 'lost', requestId: 's0:train:0:1' })
    expect(double.of('optim_step').length).toBe(1)
  })

  it('asks again at once while work is pending, and backs off when nobody answers (TNK-16) (conformance 20)', async () => {
    const clock = manualClock()
    const sleeps: number[] = []
    const replies = [
      { json: { type: 'try_again', request_id: 'x', queue_state: 'paused_capacity', queue_state_reason: 'full' } },
      { status: 408, json: { type: 'try_again', queue_state: 'active' } },
      { status: 408, json: 'nothing' },
      'cut' as const,
      'cut' as const,
      'cut' as const,
      { status: 408, json: {} },
      'cut' as const,
    ]
    const { client, events } = await openClient({
      clock: {
        now: clock.now,
        async sleep(ms, signal) {
          signal.throwIfAborted()
          sleeps.push(ms)
          await clock.advance(ms)
        },
      },
      misbehave: ({ path, json }) =>
        path === '/api/v1/retrieve_future' && json.request_id === 's0:train:0:1' ? replies.shift() : undefined,
    })
    const model = await client.createModel({ baseModel: 'm' })
    await model.optimStep(adam)
    expect(sleeps.slice(0, 3).every((ms) => ms <= 50)).toBe(true)
    expect(sleeps.filter((ms) => ms > 50)).toEqual([1000, 2000, 4000, 1000])
    expect(events.filter(({ type }) => type === 'queue')).toEqual([
      { type: 'queue', requestId: 's0:train:0:1', state: 'paused_capacity', reason: 'full' },
      { type: 'queue', requestId: 's0:train:0:1', state: 'active' },
    ])
  })

  it('fetches a large result within its budget, asking once without metadata (TNK-16) (conformance 21)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path, json }) =>
      path === '/api/v1/retrieve_future' && json.allow_metadata_only === true
        ? { json: { status: 'complete_metadata', response_payload_size: 1e9 } }
        : undefined,
    )
    const before = double.of('retrieve_future').length
    await model.forwardBackward([datum([1, 2])], crossEntropy)
    expect(
      double
        .of('retrieve_future')
        .slice(before)
        .map(({ json }) => json.allow_metadata_only),
    ).toEqual([true, false])
    double.misbehave(({ path }) =>
      path === '/api/v1/retrieve_future'
        ? { json: { status: 'complete_metadata', response_payload_size: 5 } }
        : undefined,
    )
    await expect(model.optimStep(adam)).rejects.toMatchObject({ kind: 'protocol' })
  })

  it('asks again three times after a 400, and not where a service fails work that way (TNK-16)', async () => {
    for (const [preset, asked] of [
      ['evsys', 4],
      ['skyrl', 1],
    ] as const) {
      const { client, double } = await openClient({ preset })
      const model = await client.createModel({ baseModel: 'm' })
      const before = double.of('retrieve_future').length
      double.misbehave(({ path }) =>
        path === '/api/v1/retrieve_future' ? { status: 400, json: { detail: 'no' } } : undefined,
      )
      await expect(model.optimStep(adam)).rejects.toMatchObject({ status: 400, serverText: 'no' })
      expect(double.of('retrieve_future').length - before).toBe(asked)
    }
  })

  it('reports a refused load at once, and goes on (TNK-17) (conformance 45)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    await model.optimStep(adam)
    const detail = 'LoadWeights is not permitted with seq_id 2'
    double.misbehave(({ path }) => (path === '/api/v1/load_weights' ? { status: 400, json: { detail } } : undefined))
    await expect(model.load('tinker://r/weights/a', { optimizer: true })).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
      status: 400,
      serverText: detail,
      seq: 2,
    })
    expect(double.of('load_weights').length).toBe(1)
    expect((await model.optimStep(adam).submitted).seqs).toEqual([2])
  })

  it('fails fast when a name is taken (TNK-17) (conformance 46)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path, json }) =>
      path === '/api/v1/save_weights' && json.overwrite !== true
        ? { status: 409, json: { detail: 'taken' } }
        : undefined,
    )
    const save = model.saveState('a')
    const step = model.optimStep(adam)
    await expect(save).rejects.toMatchObject({ status: 409, serverText: 'taken' })
    await step
    expect(double.of('save_weights').length).toBe(1)
    expect(await model.saveState('a', { overwrite: true })).toBe('tinker://s0:train:0/weights/a')
  })

  it('skips a refused number that the service holds for used (TNK-17)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    const used = new Set<unknown>()
    double.misbehave(({ path, json }) => {
      if (path === '/api/v1/save_weights') {
        used.add(json.seq_id)
        return { status: 409, json: { detail: 'taken' } }
      }
      return path === '/api/v1/optim_step' && used.has(json.seq_id)
        ? { status: 409, json: { detail: 'used' } }
        : undefined
    })
    await expect(model.saveState('a')).rejects.toMatchObject({ status: 409 })
    expect((await model.optimStep(adam).submitted).seqs).toEqual([2])
  })

  it('says that it is broken when a request may or may not have arrived (TNK-17)', async () => {
    const { client, double, events } = await openClient({ retryForMs: 0 })
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path }) => (path === '/api/v1/optim_step' ? 'cut' : undefined))
    const step = model.optimStep(adam)
    const after = model.saveState('a')
    await expect(step).rejects.toMatchObject({ kind: 'connection', seq: 1 })
    await expect(after).rejects.toMatchObject({ kind: 'broken', seq: 1, code: 'BACKEND_FAILED' })
    expect(model.brokenAt).toBe(1)
    expect(double.of('save_weights')).toEqual([])
    expect(events).toContainEqual(expect.objectContaining({ type: 'broken', seq: 1, modelId: 's0:train:0' }))
  })

  it('is broken when part of a batch was taken (TNK-17)', async () => {
    const { client, double } = await openClient({ double: { flags: { fwdbwd_max_chunk_len: 1 } } })
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave((seen) =>
      seen.path === '/api/v1/forward_backward' && numbered(seen) === 2
        ? { status: 400, json: { detail: 'no' } }
        : undefined,
    )
    const data = [datum([1, 2]), datum([3, 4]), datum([5, 6])]
    await expect(model.forwardBackward(data, crossEntropy)).rejects.toMatchObject({ status: 400 })
    await expect(model.optimStep(adam)).rejects.toMatchObject({ kind: 'broken' })
  })

  it('resends a lost answer under the same number (TNK-13)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    let cuts = 1
    double.misbehave(({ path }) => (path === '/api/v1/optim_step' && cuts-- > 0 ? 'cut' : undefined))
    await model.optimStep(adam)
    const posts = double.of('optim_step')
    expect(posts.map(({ json }) => json.seq_id)).toEqual([1, 1])
    expect(new Set(posts.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(1)
  })

  it.each([404, 405, 415, 422])('falls back to JSON when protobuf is answered with %i (TNK-18)', async (status) => {
    const { client, double, events } = await openClient({
      misbehave: ({ path, headers }) =>
        path === '/api/v1/forward_backward' && headers['content-type'] === 'application/x-protobuf'
          ? { status, json: {} }
          : undefined,
    })
    const model = await client.createModel({ baseModel: 'm' })
    const { outputs } = await model.forwardBackward([datum([1, 2, 3])], crossEntropy)
    expect(outputs[0]?.logprobs).toEqual({ data: Float32Array.of(-1, -1), shape: [2] })
    await model.forward([datum([1, 2, 3])], crossEntropy)
    await model.forwardBackward([datum([1, 2, 3])], crossEntropy)
    expect(double.of('forward_backward').map(({ headers }) => headers['content-type'])).toEqual([
      'application/x-protobuf',
      'application/json',
      'application/json',
    ])
    expect(double.of('forward').length).toBe(1)
    expect(events).toContainEqual({ type: 'wire', format: 'json' })
  })

  it('gives the same result in both forms (TNK-18)', async () => {
    const results = []
    for (const jsonOnly of [false, true]) {
      const { client } = await openClient({ double: { jsonOnly, engine: bigramEngine() } })
      const model = await client.createModel({ baseModel: 'm', rank: 4, seed: 3 })
      await model.forwardBackward([datum([1, 2, 3], [0.1, 0.7])], crossEntropy)
      await model.optimStep(adam)
      results.push(await model.forward([datum([1, 2, 3]), datum([4, 5])], crossEntropy))
    }
    expect(results[0]).toEqual(results[1])
  })

  it('sends a forward pass so that nobody takes it for a backward one (TNK-18)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    await model.forward([datum([1, 2])], crossEntropy)
    const [sent] = double.of('forward_backward')
    expect(tinker.decodeForwardBackwardRequest(sent?.bytes ?? new Uint8Array()).forward_only).toBe(true)
  })

  it('compresses a pass where service and Node can, and sends it plain elsewhere (TNK-18)', async () => {
    const packed: Uint8Array[] = []
    const { client } = await openClient({
      double: { flags: { proto_compress_fwdbwd: true } },
      misbehave: ({ path, headers, bytes }) => {
        if (path !== '/api/v1/forward_backward') return undefined
        packed.push(headers['content-encoding'] === 'zstd' ? unpackZstd(bytes, 2 ** 20) : bytes)
        return { json: { request_id: 'packed' } }
      },
    })
    const model = await client.createModel({ baseModel: 'm' })
    await model.forwardBackward([datum([1, 2, 3])], crossEntropy).submitted
    const [sent = new Uint8Array()] = packed
    expect(tinker.decodeForwardBackwardRequest(sent)).toMatchObject({ model_id: 's0:train:0', seq_id: 1 })
  })

  it('stops waiting when the caller does, without a hole in the order (TNK-12)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path, json }) =>
      path === '/api/v1/retrieve_future' && json.request_id === 's0:train:0:1' ? 'silence' : undefined,
    )
    const stop = new AbortController()
    const waiting = model.optimStep(adam, { signal: stop.signal })
    await waiting.submitted
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(model.optimStep(adam, { signal: stop.signal })).rejects.toBe(reason)
    expect((await model.optimStep(adam).submitted).seqs).toEqual([2])
  })

  it('runs into its deadline as an error of its own (TNK-12)', async () => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path }) => (path === '/api/v1/retrieve_future' ? 'silence' : undefined))
    await expect(model.optimStep(adam, { deadlineMs: 20 })).rejects.toMatchObject({ kind: 'deadline' })
  })

  it.each([
    ['{}', { json: {} }],
    ['text', { json: 'text' }],
    ['no JSON', { bytes: Uint8Array.of(1, 2, 3), headers: { 'content-type': 'text/html' } }],
    ['broken protobuf', { bytes: Uint8Array.of(10, 200) }],
    ['too few records', { json: { loss_fn_outputs: [], metrics: {} } }],
  ])('finds that a result of %s makes no sense (TNK-15)', async (_name, reply) => {
    const { client, double } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    double.misbehave(({ path }) => (path === '/api/v1/retrieve_future' ? reply : undefined))
    await expect(model.forward([datum([1, 2])], crossEntropy)).rejects.toMatchObject({ kind: 'protocol' })
  })

  it('sends the parts one after the other to a service that works as they arrive (TNK-19)', async () => {
    const { client, double } = await openClient({ preset: 'skyrl', double: { flags: { fwdbwd_max_chunk_len: 1 } } })
    const model = await client.createModel({ baseModel: 'm' })
    await model.forwardBackward([datum([1, 2]), datum([3, 4]), datum([5, 6])], crossEntropy)
    expect(double.of('forward_backward').map(numbered)).toEqual([1, 2, 3])
    const dro = model.forwardBackward([datum([1, 2])], { name: 'dro' })
    await expect(dro).rejects.toThrow(/no loss "dro"/)
  })

  it('computes the loss where a service reports none (TNK-19)', async () => {
    const { client, double } = await openClient({ preset: 'skyrl' })
    const model = await client.createModel({ baseModel: 'm' })
    const output = { loss_fn_output_type: 'x', loss_fn_outputs: [{ logprobs: { data: [-1, -2], dtype: 'float32' } }] }
    double.misbehave(({ path }) => (path === '/api/v1/retrieve_future' ? { json: output } : undefined))
    const { metrics } = await model.forward([datum([1, 2, 3], [1, 0.5])], crossEntropy)
    expect(metrics).toEqual({ 'loss:sum': 2 })
  })

  it('trains all weights where a service offers it, in its own words (TNK-19)', async () => {
    const spec = { baseModel: 'm', rank: 'full' } as const
    const fireworks = await openClient({ preset: { ...presets.fireworks } })
    await fireworks.client.createModel(spec)
    expect(fireworks.double.of('create_model')[0]?.json.lora_config).toEqual({ rank: 0 })
    await expect(fireworks.client.sampler({ baseModel: 'm' })).rejects.toThrow(/draws no samples/)
    const own = await openClient()
    await own.client.createModel(spec)
    expect(own.double.of('create_model')[0]?.json.lora_config).toBeUndefined()
    const hosted = await openClient({ preset: 'tinker' })
    await expect(hosted.client.createModel(spec)).rejects.toThrow(/adapters only/)
  })
})

describe('a custom loss', () => {
  const squares = {
    custom: (_data: unknown, logprobs: readonly { data: ArrayLike<number>; shape: readonly number[] }[]) => {
      let loss = 0
      const gradients = logprobs.map(({ data, shape }) => {
        const gradient = Float64Array.from(data, (logprob) => 2 * logprob)
        for (let at = 0; at < data.length; at++) loss += (data[at] ?? 0) ** 2
        return { data: gradient, shape }
      })
      return { loss, gradients, metrics: { twice: 2 * loss } }
    },
  }

  it('moves the weights as the same loss computed directly (TNK-20) (conformance 39)', async () => {
    const engine = bigramEngine()
    const { client, double } = await openClient({ double: { engine } })
    const model = await client.createModel({ baseModel: 'm', rank: 4, seed: 3 })
    const data = [datum([1, 2, 3, 4]), datum([7, 8])]
    const pass = model.forwardBackward(data, squares)
    const step = model.optimStep(adam)
    const { metrics, outputs } = await pass
    await step
    expect(metrics.twice).toBeCloseTo(2 * (metrics['loss:sum'] ?? 0), 9)
    expect((await pass.submitted).seqs).toEqual([1, 2])
    expect((await step.submitted).seqs).toEqual([3])
    expect(double.of('forward_backward').length).toBe(2)

    const { signal } = new AbortController()
    const lora = { rank: 4, seed: 3, trainAttention: true, trainMlp: true, trainUnembedding: true }
    await engine.run({ op: 'create', model: 'direct', baseModel: 'm', lora }, signal)
    const weighted = data.map((each, index) => {
      const logprobs = outputs[index]?.logprobs?.data ?? []
      const target = each.lossInputs.target_tokens ?? { data: new Int32Array(), shape: [0] }
      const weights = { data: Float32Array.from(logprobs, (logprob) => -2 * logprob), shape: target.shape }
      return { tokens: each.tokens, lossInputs: { target_tokens: target, weights } }
    })
    await engine.run({ op: 'forward_backward', model: 'direct', data: weighted, loss: crossEntropy }, signal)
    await engine.run({ op: 'optim_step', model: 'direct', adam: { ...adam, weightDecay: 0 } }, signal)
    const bytes = async (id: string) => {
      const result = await engine.run({ op: 'export', model: id }, signal)
      return 'bytes' in result ? Buffer.from(result.bytes).toString('hex') : ''
    }
    expect(await bytes(model.modelId)).toBe(await bytes('direct'))
  })

  it('leaves no hole in the order when it throws or its gradients do not fit (TNK-20)', async () => {
    const { client } = await openClient()
    const model = await client.createModel({ baseModel: 'm' })
    const failing = [
      { custom: () => Promise.reject(new TypeError('oops')) as never },
      { custom: () => ({ loss: Number.NaN, gradients: [] }) },
      { custom: () => ({ loss: 1, gradients: [] }) },
      { custom: () => ({ loss: 1, gradients: [{ data: new Float64Array(7), shape: [7] }] }) },
      { custom: () => ({ loss: 1, gradients: [{ data: Float64Array.of(Number.NaN), shape: [1] }] }) },
    ]
    for (const loss of failing) {
      const error = await model.forwardBackward([datum([1, 2])], loss).then(
        () => undefined,
        (thrown: ServiceError) => thrown,
      )
      expect(error?.message).toMatch(/^custom loss: /)
    }
    expect(model.brokenAt).toBeUndefined()
    await model.optimStep(adam)
  })
})
