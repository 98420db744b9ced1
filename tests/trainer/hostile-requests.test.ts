import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as tinker from '../../src/contracts/tinker/index.ts'
import { inFullLane } from '../scale.ts'
import {
  datum,
  forwardBackward,
  type Json,
  optimStep,
  type RunningTrainer,
  runningTrainers,
} from './running-trainer.ts'

const start = runningTrainers()

const paths = [
  ...['create_session', 'session_heartbeat', 'create_sampling_session', 'create_model', 'get_info', 'unload_model'],
  ...[
    'forward',
    'forward_backward',
    'optim_step',
    'save_weights',
    'save_weights_for_sampler',
    'load_weights',
    'asample',
  ],
  ...['retrieve_future', 'retrieve_futures', 'cancel_future', 'weights_info', 'telemetry', 'join_sampling_session'],
  ...['client/config', 'client/dynamic_config', '/v1/completions', '/v1/chat/completions'],
]

/** Sound requests, to be damaged. */
function sound(model: string, session: string): Json[] {
  const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] }
  return [
    forwardBackward(model, 1, [datum([1, 2, 3])]),
    { model_id: model, seq_id: 1, forward_input: { data: [datum([1, 2, 3])], loss_fn: 'cross_entropy' } },
    optimStep(model, 1),
    { model_id: model, seq_id: 1, path: 'name', ttl_seconds: 5 },
    { session_id: session, model_seq_id: 1, base_model: 'm', lora_config: { rank: 2, seed: 1 } },
    { base_model: 'm', prompt, num_samples: 1, sampling_params: { max_tokens: 2, stop: ['a'] } },
    { session_id: session, model_seq_id: 1, path: `tinker://${model}/weights/a`, optimizer: true },
    { model: 'm', prompt: 'abc', messages: [{ role: 'user', content: 'x' }], max_tokens: 2 },
    { request_id: `${model}:1`, allow_metadata_only: true },
  ]
}

const strange = fc.oneof(
  fc.constantFrom<unknown>(null, -1, 0, 1e308, 2 ** 53, 0.5, '', '../..', '\0', [], {}, true, 'x'.repeat(5000)),
  fc.constantFrom<unknown>(
    [[]],
    [null],
    [{}],
    { __proto__: null, constructor: 1 },
    { data: [], dtype: 'int64' },
    -(2 ** 63),
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Replaces, removes or adds a value somewhere. */
function damaged(value: unknown, steps: readonly number[], by: unknown): unknown {
  const [step = 0, ...rest] = steps
  if (typeof value !== 'object' || value === null || steps.length === 0) return by
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value }
  const keys = Object.keys(copy)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return by
  Reflect.set(copy, key, damaged(Reflect.get(copy, key), rest, by))
  return copy
}

async function survives(trainer: RunningTrainer, path: string, body: Uint8Array, headers: Record<string, string>) {
  const response = await trainer.request(path, { method: 'POST', body: Buffer.from(body), headers })
  await response.arrayBuffer()
  return response.status
}

describe('malformed requests', () => {
  it('get an answer that is no fault of the trainer, which goes on (TRN-16)', { timeout: 600_000 }, async () => {
    const trainer = await start({ limits: { holdMs: 1, gapMs: 1 } })
    const session = await trainer.session()
    const model = await trainer.model(session)
    const seeds = sound(model, session)
    const json = fc
      .tuple(fc.nat(seeds.length - 1), fc.array(fc.nat(20), { maxLength: 7 }), strange)
      .map(([which, steps, by]) => Buffer.from(JSON.stringify(damaged(seeds[which], steps, by)) ?? ''))
    const whole = tinker.encodeForwardBackwardRequest(tinker.ForwardBackwardRequest.parse(seeds[0]))
    const bitten = fc
      .tuple(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 }), fc.nat(whole.length))
      .map(([bites, end]) => {
        const copy = Uint8Array.from(whole)
        for (const [at, byte] of bites) copy[at] = byte
        return copy.subarray(0, end)
      })
    const types = ['application/json', 'application/x-protobuf', 'text/plain']
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.oneof({ weight: 4, arbitrary: json }, bitten, fc.uint8Array({ maxLength: 200 })),
        fc.constantFrom(...types),
        fc.constantFrom('identity', 'identity', 'zstd', 'br'),
        async (path, body, type, encoding) => {
          const status = await survives(trainer, path, body, { 'content-type': type, 'content-encoding': encoding })
          expect(status).toBeLessThan(500)
        },
      ),
      { numRuns: inFullLane ? 1000 : 250 },
    )
    const other = await trainer.model(await trainer.session())
    expect(await trainer.run('forward_backward', forwardBackward(other, 1, [datum([1, 2, 3])]))).toHaveProperty(
      'metrics',
    )
  })

  it('on paths that do not exist are told so (TRN-16)', async () => {
    const trainer = await start()
    for (const path of [
      'nothing',
      'training_runs/%2e%2e/x',
      'training_runs//',
      'archives/x.y',
      'archives/..%2f',
      '/%',
    ]) {
      expect((await trainer.get(path)).status, path).toBeGreaterThanOrEqual(400)
    }
    expect((await trainer.request('create_session', { method: 'PUT' })).status).toBe(404)
  })
})
