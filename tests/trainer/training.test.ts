import { describe, expect, it } from 'vitest'
import * as tinker from '../../src/contracts/tinker/index.ts'
import {
  datum,
  forwardBackward,
  type Json,
  optimStep,
  type RunningTrainer,
  runningTrainers,
} from './running-trainer.ts'

const start = runningTrainers()
const data = [datum([1, 2, 3, 4]), datum([9, 8, 7])]

async function fresh(options: { rank?: number | undefined } = {}): Promise<{ trainer: RunningTrainer; model: string }> {
  const trainer = await start()
  return { trainer, model: await trainer.model(await trainer.session(), options) }
}

const forward = (model_id: string, seq_id: number, some = data) => ({
  model_id,
  seq_id,
  forward_input: { data: some, loss_fn: 'cross_entropy' },
})

function logprobs(result: Json): number[][] {
  return tinker.ForwardBackwardOutput.parse(result).loss_fn_outputs.map(({ logprobs: each }) => [...(each?.data ?? [])])
}

function protobuf(model_id: string, seq_id: number, extra: Partial<tinker.ForwardBackwardRequest> = {}) {
  const request = tinker.ForwardBackwardRequest.parse(forwardBackward(model_id, seq_id, data))
  return tinker.encodeForwardBackwardRequest({ ...request, ...extra })
}

async function sendBytes(trainer: RunningTrainer, bytes: Uint8Array, headers: Record<string, string> = {}) {
  return trainer.request('forward_backward', {
    method: 'POST',
    body: Buffer.from(bytes),
    headers: { 'content-type': 'application/x-protobuf', ...headers },
  })
}

describe('the wire of a pass', () => {
  it('is JSON or protobuf, with equal results in either form (conformance 23, 25) (TRN-4)', async () => {
    const { trainer, model } = await fresh()
    const json = await trainer.run('forward_backward', forwardBackward(model, 1, data))
    const sent = await sendBytes(trainer, protobuf(model, 2))
    expect(sent.status).toBe(200)
    const { request_id } = tinker.UntypedFuture.parse(await sent.json())
    expect(await trainer.result({ request_id })).toEqual(json)
    const answer = await trainer.request('retrieve_future', {
      method: 'POST',
      body: JSON.stringify({ request_id }),
      headers: { accept: 'application/x-protobuf, application/json' },
    })
    expect(answer.headers.get('content-type')).toBe('application/x-protobuf')
    const decoded = tinker.decodeForwardBackwardOutput(new Uint8Array(await answer.arrayBuffer()))
    expect(decoded.loss_fn_outputs.map(({ logprobs: each }) => [...(each?.data ?? [])])).toEqual(logprobs(json))
    expect(decoded.metrics).toEqual(json.metrics)
  })

  it('may have empty chunks, as loops send them for an answer of one token (TRN-4)', async () => {
    const { trainer, model } = await fresh()
    const whole = await trainer.run('forward_backward', forwardBackward(model, 1, data))
    const chunked = data.map((each) => {
      const { chunks } = tinker.ModelInput.parse(each.model_input)
      return { ...each, model_input: { chunks: [...chunks, { type: 'encoded_text', tokens: [] }] } }
    })
    expect(await trainer.run('forward_backward', forwardBackward(model, 2, chunked))).toEqual(whole)
    const request = tinker.ForwardBackwardRequest.parse(forwardBackward(model, 3, chunked))
    const sent = await sendBytes(trainer, tinker.encodeForwardBackwardRequest(request))
    expect(sent.status).toBe(200)
    expect(await trainer.result(tinker.UntypedFuture.parse(await sent.json()))).toEqual(whole)
  })

  it('may be packed, and what cannot be unpacked or read is refused (conformance 23) (TRN-4)', async () => {
    const { trainer, model } = await fresh()
    const packed = goldenZstd
    expect((await sendBytes(trainer, packed, { 'content-encoding': 'zstd' })).status).toBe(404) // unpacked: another model
    for (const [bytes, encoding] of [
      [packed.subarray(0, -3), 'zstd'],
      [Buffer.from('no zstd at all'), 'zstd'],
      [Buffer.from([0xff, 0xff, 0xff]), 'identity'],
      [protobuf(model, 1).subarray(0, -5), 'identity'],
      [protobuf(model, 1), 'gzip'],
    ] as const) {
      const { status } = await sendBytes(trainer, bytes, { 'content-encoding': encoding })
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
    }
  })

  it('is bounded, also after unpacking (TRN-4)', async () => {
    const trainer = await start({ limits: { bodyBytes: 90 } })
    const model = await trainer.model(await trainer.session(), { base: 'm' }).catch(() => 'none')
    expect((await sendBytes(trainer, protobuf(model, 1))).status).toBe(413)
    expect((await sendBytes(trainer, goldenZstd, { 'content-encoding': 'zstd' })).status).toBe(413)
  })
})

// The golden request of the protocol, for the model "s:train:0": 98 bytes, packed by the reference implementation of zstd.
const goldenZstd = Buffer.from(
  'KLUv/SBipQIA4gQSGIBZB4xSjBfwhS/osSl23RVpdvzhPjdJAQ1DuaeMtVJGlEvHoQako7YFq1MutGPLhI9W+9j/9B/9P8IOu9YgznpwKgc3rMEGAwAgy5svDgAK',
  'base64',
)

describe('passes', () => {
  it('without backward leave the gradients as they are (conformance 24) (TRN-5)', async () => {
    const { trainer, model } = await fresh()
    const before = logprobs(await trainer.run('forward', forward(model, 1)))
    const sent = await sendBytes(trainer, protobuf(model, 2, { forward_only: true }))
    expect(logprobs(await trainer.result(tinker.UntypedFuture.parse(await sent.json())))).toEqual(before)
    await trainer.run('forward_backward', { ...forwardBackward(model, 3, data), forward_only: true })
    await trainer.run('optim_step', optimStep(model, 4, { learning_rate: 1 }))
    expect(logprobs(await trainer.run('forward', forward(model, 5)))).toEqual(before)
  })

  it('answer one record per datum, in order and in the shape of its targets (conformance 27, 28) (TRN-5)', async () => {
    const { trainer, model } = await fresh()
    const many = {
      model_input: {
        chunks: [
          { type: 'encoded_text', tokens: [1] },
          { type: 'encoded_text', tokens: [2] },
        ],
      },
      loss_fn_inputs: {
        target_tokens: { data: [2, 3, 4, 5, 6, 7], dtype: 'int64', shape: [2, 3] },
        weights: { data: [0.5, 0.25, 0.25, 1, 0, 0], dtype: 'float32', shape: [2, 3] },
      },
    }
    const result = await trainer.run('forward_backward', forwardBackward(model, 1, [...data, many]))
    const { loss_fn_outputs, metrics } = tinker.ForwardBackwardOutput.parse(result)
    expect(loss_fn_outputs.map((output) => output.logprobs?.shape)).toEqual([[3], [2], [2, 3]])
    for (const key of Object.keys(metrics))
      expect(key).toMatch(/^[^:]+:(mean|sum|min|max|slack|hash_unordered|unique)$/)
    expect(metrics).toHaveProperty('loss:sum')
    const alone = logprobs(await trainer.run('forward', forward(model, 2, [data[1] ?? {}])))
    expect(loss_fn_outputs[1]?.logprobs?.data).toEqual(alone[0])
  })

  it('sum: weights and copies scale the gradient, halves add up to the whole (conformance 29, 30) (TRN-5)', async () => {
    const norm = async (batches: readonly Json[][]) => {
      const { trainer, model } = await fresh()
      let seq = 0
      for (const batch of batches) await trainer.run('forward_backward', forwardBackward(model, ++seq, batch))
      const { metrics } = await trainer.run('optim_step', optimStep(model, ++seq))
      return tinker.OptimStepResponse.parse({ metrics }).metrics?.['optim/grad_norm'] ?? Number.NaN
    }
    const one = await norm([data])
    const heavy = [datum([1, 2, 3, 4], { weight: 10 }), datum([9, 8, 7], { weight: 10 })]
    expect((await norm([heavy])) / one).toBeCloseTo(10, 5)
    expect((await norm([[...data, ...data, ...data, ...data]])) / one).toBeCloseTo(4, 5)
    expect((await norm([data.slice(0, 1), data.slice(1)])) / one).toBeCloseTo(1, 5)
  })

  it('see the weights of their place: a pass after a step sees the step (conformance 32) (TRN-5)', async () => {
    const { trainer, model } = await fresh()
    const before = logprobs(await trainer.run('forward', forward(model, 1)))
    const [, , after] = await Promise.all([
      trainer.post('forward_backward', forwardBackward(model, 2, data)),
      trainer.post('optim_step', optimStep(model, 3)),
      trainer.post('forward', forward(model, 4)),
    ])
    const [old = 0, now = 0] = [before, logprobs(await trainer.result(after))].map((list) => list[0]?.[0])
    expect(now).toBeGreaterThan(old)
  })
})

describe('steps', () => {
  it('follow AdamW with the settings of each step (conformance 33) (TRN-6)', async () => {
    const settings = [
      {},
      { weight_decay: 0.1 },
      { grad_clip_norm: 1 },
      { learning_rate: 0.05, beta1: 0.8, beta2: 0.99, eps: 1e-8 },
      { learning_rate: 0.2, weight_decay: 0.1, grad_clip_norm: 1 },
    ]
    const train = async (expand: (some: Json) => Json) => {
      const { trainer, model } = await fresh()
      let seq = 0
      for (const each of settings) {
        await trainer.run('forward_backward', forwardBackward(model, ++seq, data))
        await trainer.run('optim_step', optimStep(model, ++seq, expand(each)))
      }
      return logprobs(await trainer.run('forward', forward(model, ++seq)))
    }
    const defaults = { learning_rate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0, grad_clip_norm: 0 }
    const spelled = await train((some) => ({ ...defaults, ...some }))
    expect(await train((some) => some)).toEqual(spelled)
    expect(await train((some) => ({ ...defaults, ...some, weight_decay: 0 }))).not.toEqual(spelled)
  })

  it('use up the gradient: the next one moves by momentum alone (conformance 34) (TRN-6)', async () => {
    const { trainer, model } = await fresh()
    await trainer.run('forward_backward', forwardBackward(model, 1, data))
    const norm = async (seq: number) => {
      const { metrics } = await trainer.run('optim_step', optimStep(model, seq))
      return tinker.OptimStepResponse.parse({ metrics }).metrics?.['optim/grad_norm']
    }
    expect(await norm(2)).toBeGreaterThan(0)
    expect(await norm(3)).toBe(0)
  })

  it('of many adapters at once end as those of one alone (TRN-8)', async () => {
    const train = async (trainer: RunningTrainer, model: string, seed: number) => {
      const own = [datum([seed, 2, 3]), datum([4, seed, 6])]
      const promises = []
      for (let seq = 1; seq <= 10; seq += 2) {
        promises.push(await trainer.post('forward_backward', forwardBackward(model, seq, own)))
        promises.push(await trainer.post('optim_step', optimStep(model, seq + 1)))
      }
      for (const promise of promises) await trainer.result(promise)
      return trainer.run('forward', forward(model, 11))
    }
    const together = await start()
    const session = await together.session()
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
    const ends = await Promise.all(
      seeds.map(async (seed) => train(together, await together.model(session, { seq: seed, seed }), seed)),
    )
    for (const seed of seeds) {
      const { trainer } = await fresh()
      const alone = await train(trainer, await trainer.model(await trainer.session(), { seq: 1, seed }), seed)
      expect(ends[seed - 1]).toEqual(alone)
    }
  })
})

describe('what is wrong with a request', () => {
  it('is told at once with its place, and the model goes on (conformance 37) (TRN-7)', async () => {
    const { trainer, model } = await fresh()
    const broken = (change: (each: Record<string, Json>) => void) => {
      const copy = structuredClone(datum([1, 2, 3])) as Record<string, Json>
      change(copy)
      return copy
    }
    const inputs = (each: Record<string, Json>) => each.loss_fn_inputs as Record<string, Json>
    const cases: [string, Json, unknown[]][] = [
      [
        'no loss is called',
        forwardBackward(model, 1, data, 'no_such_loss'),
        ['body', 'forward_backward_input', 'loss_fn'],
      ],
      [
        'no setting',
        {
          ...forwardBackward(model, 2, []),
          forward_backward_input: { data, loss_fn: 'cross_entropy', loss_fn_config: { x: 1 } },
        },
        ['body', 'forward_backward_input', 'loss_fn'],
      ],
      ['at least one', forwardBackward(model, 3, []), ['body', 'forward_backward_input', 'data']],
      [
        'lacks the input weights',
        forwardBackward(model, 4, [data[0] ?? {}, broken((each) => delete inputs(each).weights)]),
        ['body', 'forward_backward_input', 'data', 1],
      ],
      [
        'shape',
        forwardBackward(model, 5, [broken((each) => Object.assign(inputs(each).weights ?? {}, { shape: [3] }))]),
        ['body', 'forward_backward_input', 'data', 0, 'loss_fn_inputs', 'weights'],
      ],
      [
        'tokens are whole numbers',
        forwardBackward(model, 6, [datum([1, 2, 999])]),
        ['body', 'forward_backward_input', 'data', 0],
      ],
      [
        'context',
        forwardBackward(model, 7, [datum(Array.from({ length: 131_075 }, () => 1))]),
        ['body', 'forward_backward_input', 'data', 0],
      ],
      [
        'no tokens',
        forwardBackward(model, 8, [
          broken((each) => Object.assign(each, { model_input: { chunks: [{ tokens: [] }] } })),
        ]),
        ['body', 'forward_backward_input', 'data', 0, 'model_input'],
      ],
    ]
    for (const [words, body, loc] of cases) {
      const { status, body: answer } = await trainer.send('forward_backward', body)
      expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining(words)])
      expect(answer.detail).toEqual([expect.objectContaining({ loc })])
    }
    expect((await trainer.send('optim_step', optimStep(model, 9, { learning_rate: -1 }))).status).toBe(422)
    expect((await trainer.send('optim_step', { seq_id: 'x' })).body.detail).toHaveLength(2)
    expect(await trainer.run('forward_backward', forwardBackward(model, 10, data))).toHaveProperty('metrics')
  })
})
