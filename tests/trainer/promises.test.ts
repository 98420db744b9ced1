import { describe, expect, it } from 'vitest'
import { mockVocabSize } from '../../src/backends/models/mock-models.ts'
import type { Engine } from '../../src/contracts/index.ts'
import { createMockEngine } from '../../src/engine/mock/mock-engine.ts'
import { manualClock } from '../../src/kernel/index.ts'
import { datum, forwardBackward, optimStep, runningTrainers } from './running-trainer.ts'

const start = runningTrainers()
const data = [datum([1, 2, 3, 4])]

/** An engine that begins no work before it is let. */
function heldEngine() {
  const engine = createMockEngine({ vocabSize: mockVocabSize })
  const ops: string[] = []
  let release = () => {}
  let gate = Promise.resolve()
  const held: Engine = {
    id: engine.id,
    async run(op, signal) {
      if (op.op !== 'create') await gate
      ops.push('model' in op ? `${op.op} ${op.model.split(':').at(-1)}` : '')
      return engine.run(op, signal)
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
  return {
    engine: held,
    ops,
    hold() {
      gate = new Promise((resolve) => {
        release = resolve
      })
    },
    release: () => release(),
  }
}

describe('promises', () => {
  it('are the same for the same request sent twice, whose work is done once (conformance 14) (TRN-3)', async () => {
    const { engine, ops } = heldEngine()
    const trainer = await start({ engine })
    const model = await trainer.model(await trainer.session())
    const body = forwardBackward(model, 1, data)
    const [first, second] = await Promise.all([
      trainer.post('forward_backward', body),
      trainer.post('forward_backward', body),
    ])
    expect(second).toEqual(first)
    const result = await trainer.result(first)
    expect(await trainer.post('forward_backward', body)).toEqual(first)
    expect(await trainer.result(first)).toEqual(result)
    expect(ops.filter((op) => op.startsWith('forward_backward'))).toHaveLength(1)
    const session = await trainer.session()
    const made = { session_id: session, model_seq_id: 0, base_model: 'evsys/tiny', lora_config: { rank: 4 } }
    expect(await trainer.post('create_model', made)).toEqual(await trainer.post('create_model', made))
    expect((await trainer.send('create_model', { ...made, lora_config: { rank: 5 } })).status).toBe(409)
  })

  it('are refused for another request with the same number, which changes nothing (conformance 15) (TRN-3)', async () => {
    const trainer = await start()
    const model = await trainer.model(await trainer.session())
    await trainer.run('forward_backward', forwardBackward(model, 1, data))
    const other = await trainer.send('forward_backward', forwardBackward(model, 1, [datum([5, 6, 7])]))
    expect(other.status).toBe(409)
    expect(other.headers.get('x-should-retry')).toBe('false')
    expect((await trainer.send('optim_step', optimStep(model, 1))).status).toBe(409)
    expect(await trainer.run('optim_step', optimStep(model, 2))).toHaveProperty('metrics')
  })

  it('are held while they are pending, then say what they wait for (conformance 16) (TRN-3)', async () => {
    const clock = manualClock()
    const held = heldEngine()
    const trainer = await start({ clock, engine: held.engine, limits: { sessionMs: 1e9 } })
    const model = await trainer.model(await trainer.session())
    held.hold()
    const first = await trainer.post('forward_backward', forwardBackward(model, 1, data))
    const second = await trainer.post('optim_step', optimStep(model, 2))
    const sleepers = clock.sleeping
    const polls = [first, second].map((promise) =>
      trainer.post('retrieve_future', { request_id: promise.request_id, allow_metadata_only: true }),
    )
    await clock.untilSleeping(sleepers + 2)
    await clock.advance(29_000)
    let isAnswered = false
    void Promise.race(polls).then(() => {
      isAnswered = true
    })
    await clock.advance(0)
    expect(isAnswered).toBe(false)
    await clock.advance(2000)
    const [running, waiting] = await Promise.all(polls)
    expect(running).toEqual({
      type: 'try_again',
      request_id: first.request_id,
      queue_state: 'active',
      queue_state_reason: 'running',
    })
    expect(waiting).toMatchObject({ type: 'try_again', queue_state_reason: '1 request ahead' })
    held.release()
    expect(await trainer.result(second)).toHaveProperty('metrics')
  })

  it('give their result to everybody who asks, and again (conformance 17, 22) (TRN-3)', async () => {
    const held = heldEngine()
    const trainer = await start({ engine: held.engine })
    const model = await trainer.model(await trainer.session())
    held.hold()
    const promise = await trainer.post('forward_backward', forwardBackward(model, 1, data))
    const polls = [trainer.result(promise), trainer.result(promise)]
    held.release()
    const [first, second] = await Promise.all(polls)
    expect(second).toEqual(first)
    expect(await trainer.result(promise)).toEqual(first)
    expect(first).not.toHaveProperty('error')
  })

  it('announce a large result before they send it (TRN-3)', async () => {
    const trainer = await start({ limits: { announceBytes: 300 } })
    const model = await trainer.model(await trainer.session())
    const { request_id } = await trainer.post('forward_backward', forwardBackward(model, 1, data))
    await trainer.result({ request_id })
    expect(await trainer.post('retrieve_future', { request_id, allow_metadata_only: true })).toEqual({
      status: 'complete_metadata',
      response_payload_size: expect.any(Number),
    })
    expect(await trainer.post('retrieve_future', { request_id, allow_metadata_only: false })).toHaveProperty('metrics')
  })

  it('tell failed work with status 200 and a category (conformance 18) (TRN-3)', async () => {
    const trainer = await start()
    const model = await trainer.model(await trainer.session())
    const made = { learning_rate: Number.MAX_VALUE }
    await trainer.run('forward_backward', forwardBackward(model, 1, data))
    await trainer.run('optim_step', optimStep(model, 2, made))
    await trainer.run('forward_backward', forwardBackward(model, 3, data))
    await trainer.run('optim_step', optimStep(model, 4, made))
    const { sampling_session_id } = await trainer.run('save_weights_for_sampler', {
      model_id: model,
      seq_id: 5,
      sampling_session_seq_id: 0,
    })
    const failed = await trainer.run('asample', {
      sampling_session_id,
      seq_id: 0,
      prompt: { chunks: [{ type: 'encoded_text', tokens: [1] }] },
      sampling_params: { max_tokens: 2 },
    })
    expect(failed).toEqual({ error: expect.stringContaining('diverged'), category: 'user' })
  })

  it('are unknown with 404, lost with 410 (conformance 19) (TRN-3)', async () => {
    const clock = manualClock(1e12)
    const trainer = await start({ clock, limits: { keepMs: 1000, sessionMs: 1e9 } })
    const model = await trainer.model(await trainer.session())
    const promise = await trainer.post('forward_backward', forwardBackward(model, 1, data))
    await trainer.result(promise)
    for (const request_id of ['nothing', `${model}:77`, '']) {
      expect((await trainer.send('retrieve_future', { request_id })).status).toBe(404)
    }
    await clock.advance(60_000)
    expect((await trainer.send('retrieve_future', promise)).status).toBe(410)
  })

  it('tell a client of many samples which are done, once (TRN-3)', async () => {
    const trainer = await start()
    const session_id = await trainer.session()
    const { sampling_session_id } = await trainer.post('create_sampling_session', {
      session_id,
      sampling_session_seq_id: 0,
      base_model: 'evsys/tiny',
    })
    const prompt = { chunks: [{ type: 'encoded_text', tokens: [1] }] }
    const ask = (seq_id: number) =>
      trainer.post('asample', { sampling_session_id, seq_id, prompt, sampling_params: { max_tokens: 2 } })
    const promises = [await ask(0), await ask(1), await ask(1_000_000_007)]
    for (const promise of promises) await trainer.result(promise)
    const target = { type: 'sampling_session', sampling_session_id, cloned_sampler_id: 0 }
    const done = await trainer.post('retrieve_futures', { target, prev_cursor: 0 })
    expect(done).toMatchObject({
      cursor: 2,
      completions: promises.slice(0, 2).map(({ request_id }) => ({ state: 'finished', request_id })),
    })
    expect(await trainer.post('retrieve_futures', { target, prev_cursor: 2, timeout: 0 })).toEqual({
      completions: [],
      cursor: 2,
    })
    const copy = { target: { ...target, cloned_sampler_id: 1 } }
    expect((await trainer.post('retrieve_futures', copy)).completions).toHaveLength(1)
  })
})

describe('the order of requests', () => {
  it('is that of their numbers, not of their arrival (conformance 31) (TRN-5)', async () => {
    const held = heldEngine()
    const trainer = await start({ engine: held.engine })
    const model = await trainer.model(await trainer.session())
    const save = await trainer.post('save_weights', { model_id: model, seq_id: 4, path: 'end' })
    const three = await trainer.post('optim_step', optimStep(model, 3))
    const two = await trainer.post('forward_backward', forwardBackward(model, 2, data))
    const one = await trainer.post('forward', {
      model_id: model,
      seq_id: 1,
      forward_input: { data, loss_fn: 'cross_entropy' },
    })
    for (const promise of [save, three, two, one]) await trainer.result(promise)
    expect(held.ops.slice(1).map((op) => op.split(' ')[0])).toEqual([
      'forward',
      'forward_backward',
      'optim_step',
      'export_state',
    ])
  })

  it('fails what waits for a request that never comes, and goes on after it (TRN-5)', async () => {
    const clock = manualClock()
    const trainer = await start({ clock, limits: { gapMs: 5000, sessionMs: 1e9 } })
    const model = await trainer.model(await trainer.session())
    const sleepers = clock.sleeping
    const stranded = [
      await trainer.post('forward_backward', forwardBackward(model, 2, data)),
      await trainer.post('optim_step', optimStep(model, 3)),
    ]
    await clock.untilSleeping(sleepers + 1)
    await clock.advance(5000)
    for (const promise of stranded) {
      expect(await trainer.result(promise)).toEqual({ error: expect.stringContaining('seq_id 1'), category: 'user' })
    }
    expect(await trainer.run('forward_backward', forwardBackward(model, 4, data))).toHaveProperty('metrics')
    expect((await trainer.send('forward_backward', forwardBackward(model, 1, data))).status).toBe(409)
  })

  it('is fair: many requests of one model delay those of another by one (TRN-13)', async () => {
    const held = heldEngine()
    const trainer = await start({ engine: held.engine })
    const session = await trainer.session()
    const busy = await trainer.model(session, { seq: 0 })
    const quiet = await trainer.model(session, { seq: 1 })
    held.hold()
    const many = []
    for (let seq = 1; seq <= 5; seq++)
      many.push(await trainer.post('forward_backward', forwardBackward(busy, seq, data)))
    const few = await trainer.post('forward_backward', forwardBackward(quiet, 1, data))
    held.release()
    await trainer.result(few)
    for (const promise of many) await trainer.result(promise)
    const order = held.ops.filter((op) => op.startsWith('forward_backward')).map((op) => op.split(' ')[1])
    expect(order).toEqual(['0', '1', '0', '0', '0', '0'])
  })
})
