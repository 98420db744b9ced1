import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as tinker from '../../src/contracts/tinker/index.ts'
import { manualClock } from '../../src/kernel/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import {
  datum,
  forwardBackward,
  type Json,
  optimStep,
  type RunningTrainer,
  runningTrainers,
} from './running-trainer.ts'

const start = runningTrainers()
const folder = temporaryFolders()
const data = [datum([1, 2, 3, 4]), datum([9, 8, 7])]

async function trained(trainer: RunningTrainer, options: { rank?: number | undefined } = {}) {
  const session = await trainer.session()
  const model = await trainer.model(session, options)
  await trainer.run('forward_backward', forwardBackward(model, 1, data))
  await trainer.run('optim_step', optimStep(model, 2))
  return { session, model }
}

const forward = (model_id: string, seq_id: number) => ({
  model_id,
  seq_id,
  forward_input: { data, loss_fn: 'cross_entropy' },
})

async function nextStep(trainer: RunningTrainer, model: string, seq: number): Promise<Json> {
  await trainer.run('forward_backward', forwardBackward(model, seq, data))
  await trainer.run('optim_step', optimStep(model, seq + 1))
  return trainer.run('forward', forward(model, seq + 2))
}

describe('saved weights', () => {
  it('go on as if nothing had happened, with or without the optimiser (conformance 44) (TRN-9)', async () => {
    for (const rank of [8, 0]) {
      const trainer = await start()
      const { session, model } = await trained(trainer, { rank })
      const { path } = await trainer.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
      expect(path).toBe(`tinker://${model}/weights/a`)
      const goal = await nextStep(trainer, model, 4)
      const loaded = await trainer.model(session, { seq: 1, rank, seed: 99 })
      await trainer.run('load_weights', { model_id: loaded, seq_id: 1, path, optimizer: true })
      expect(await nextStep(trainer, loaded, 2)).toEqual(goal)
      const made = await trainer.run('load_weights', { session_id: session, model_seq_id: 2, path, optimizer: true })
      expect(made).toMatchObject({ model_id: `${session}:train:2` })
      expect(await nextStep(trainer, `${session}:train:2`, 1)).toEqual(goal)
      await trainer.run('load_weights', { session_id: session, model_seq_id: 3, path, optimizer: false })
      expect(await nextStep(trainer, `${session}:train:3`, 1)).not.toEqual(goal)
    }
  })

  it('are loaded first or not at all (conformance 45) (TRN-9)', async () => {
    const trainer = await start()
    const { model } = await trained(trainer)
    const { path } = await trainer.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
    const late = await trainer.send('load_weights', { model_id: model, seq_id: 4, path, optimizer: true })
    expect([late.status, late.body.detail]).toEqual([400, expect.stringContaining('seq_id 4')])
    for (const [wrong, status] of [
      [`tinker://${model}/weights/missing`, 404],
      [`tinker://${model}/sampler_weights/a`, 422],
      ['somewhere/else', 422],
      [`tinker://${model}/weights/../../../etc`, 422],
    ] as const) {
      const body = { session_id: model.split(':')[0], model_seq_id: 9, path: wrong, optimizer: true }
      expect((await trainer.send('load_weights', body)).status, wrong).toBe(status)
    }
  })

  it('keep their names, unless they are to be replaced (conformance 46) (TRN-9)', async () => {
    const trainer = await start()
    const { session, model } = await trained(trainer)
    const save = (seq_id: number, more: Json = {}) => ({ model_id: model, seq_id, path: 'a', ...more })
    await trainer.run('save_weights', save(3))
    const again = await trainer.send('save_weights', save(4))
    expect([again.status, JSON.stringify(again.body)]).toEqual([422, expect.stringContaining('exists already')])
    await nextStep(trainer, model, 5)
    const goal = await trainer.run('forward', forward(model, 8))
    const { path } = await trainer.run('save_weights', save(9, { overwrite: true }))
    await trainer.run('load_weights', { session_id: session, model_seq_id: 1, path, optimizer: true })
    expect(await trainer.run('forward', forward(`${session}:train:1`, 1))).toEqual(goal)
    for (const name of ['', '..', 'a/b', 'a b', 'ä', 'x'.repeat(300)]) {
      expect((await trainer.send('save_weights', save(10, { path: name }))).status, name).toBe(422)
    }
    expect((await trainer.send('save_weights', save(11, { path: 'ttl', ttl_seconds: 0 }))).status).toBe(422)
  })

  it('for sampling are named, or a snapshot that training does not change (conformance 47, 48) (TRN-9)', async () => {
    const trainer = await start()
    const { session, model } = await trained(trainer)
    const named = await trainer.run('save_weights_for_sampler', { model_id: model, seq_id: 3, path: 'a' })
    expect(named).toMatchObject({ path: `tinker://${model}/sampler_weights/a`, sampling_session_id: null })
    const body = { model_id: model, seq_id: 4, sampling_session_seq_id: 7 }
    const snapshot = await trainer.run('save_weights_for_sampler', body)
    expect(snapshot).toMatchObject({ path: null, sampling_session_id: `${session}:sample:7` })
    expect(await trainer.run('save_weights_for_sampler', body)).toEqual(snapshot)
    const draw = () =>
      trainer.run('asample', {
        sampling_session_id: snapshot.sampling_session_id,
        prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] },
        sampling_params: { max_tokens: 4, seed: 3 },
        prompt_logprobs: true,
      })
    const before = await draw()
    await nextStep(trainer, model, 5)
    expect(await draw()).toEqual(before)
  })

  it('survive a restart; what was lost is told so (TRN-12)', async () => {
    const dir = folder()
    const first = await start({ dir })
    const { model } = await trained(first)
    const { path } = await first.run('save_weights', {
      model_id: model,
      seq_id: 3,
      path: 'a',
      user_metadata: { k: 'v' },
    })
    const promise = await first.post('forward', forward(model, 4))
    const goal = await nextStep(first, model, 5)
    await first[Symbol.asyncDispose]()
    const second = await start({ dir })
    expect((await second.send('retrieve_future', promise)).status).toBe(410)
    expect((await second.send('retrieve_future', { request_id: 'never:train:0:1' })).status).toBe(404)
    expect((await second.send('forward', forward(model, 5))).body.detail).toMatch(/not loaded any more/)
    expect((await second.get(`training_runs/${model}`)).body).toMatchObject({
      last_checkpoint: { tinker_path: path, user_metadata: { k: 'v' } },
    })
    const session_id = await second.session()
    await second.run('load_weights', { session_id, model_seq_id: 0, path, optimizer: true })
    expect(await nextStep(second, `${session_id}:train:0`, 1)).toEqual(goal)
  })

  it('that were damaged are not loaded; half a save is no checkpoint (TRN-12)', async () => {
    const dir = folder()
    const first = await start({ dir })
    const { model } = await trained(first)
    const { path } = await first.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
    await first[Symbol.asyncDispose]()
    const place = join(dir, 'runs', encodeURIComponent(model), 'weights')
    const file = join(place, readdirSync(place).find((name) => name.endsWith('.bin')) ?? '')
    const bytes = readFileSync(file)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    writeFileSync(file, bytes)
    writeFileSync(join(place, 'half.json'), '{"version":1,"name":"half"')
    const second = await start({ dir })
    const session_id = await second.session()
    const loaded = await second.run('load_weights', { session_id, model_seq_id: 0, path, optimizer: true })
    expect(loaded).toEqual({ error: expect.stringContaining('has changed since it was saved'), category: 'server' })
    expect((await second.get(`training_runs/${model}/checkpoints`)).body.checkpoints).toHaveLength(1)
  })
})

describe('runs and checkpoints', () => {
  it('are listed with cursors and times; ids are kind and name (conformance 56, 61) (TRN-11)', async () => {
    const trainer = await start()
    const { model } = await trained(trainer)
    await trainer.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
    await trainer.run('save_weights_for_sampler', { model_id: model, seq_id: 4, path: 'a', ttl_seconds: 60 })
    const runs = tinker.TrainingRunsResponse.parse((await trainer.get('training_runs?limit=5')).body)
    expect(runs.cursor).toEqual({ offset: 0, limit: 5, total_count: 1 })
    expect(runs.training_runs[0]).toMatchObject({ training_run_id: model, is_lora: true, lora_rank: 8 })
    const { checkpoints } = tinker.CheckpointsResponse.parse((await trainer.get('checkpoints')).body)
    expect(checkpoints.map(({ checkpoint_id }) => checkpoint_id).sort()).toEqual(['sampler_weights/a', 'weights/a'])
    for (const { time } of checkpoints) expect(time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    expect((await trainer.get('training_runs?limit=-1')).status).toBe(422)
    expect((await trainer.get('training_runs/nobody')).status).toBe(404)
    expect(await trainer.post('weights_info', { tinker_path: `tinker://${model}/weights/a` })).toEqual({
      base_model: 'evsys/tiny',
      is_lora: true,
      lora_rank: 8,
      train_unembed: true,
      train_mlp: true,
      train_attn: true,
    })
  })

  it('are deleted by their raw path, once (conformance 57) (TRN-11)', async () => {
    const trainer = await start()
    const { model } = await trained(trainer)
    await trainer.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
    const remove = async (id: string) =>
      (await trainer.request(`training_runs/${model}/checkpoints/${id}`, { method: 'DELETE' })).status
    expect(await remove('a')).toBe(400)
    expect(await remove('weights/a')).toBe(204)
    expect(await remove('weights/a')).toBe(404)
  })

  it('expire when their time is up, which may be set and taken back (conformance 58) (TRN-11)', async () => {
    const clock = manualClock(1e12)
    const trainer = await start({ clock, limits: { sessionMs: 1e9 } })
    const { session, model } = await trained(trainer)
    const { path } = await trainer.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
    const ttl = async (body: unknown) =>
      (
        await trainer.request(`training_runs/${model}/checkpoints/weights/a/ttl`, {
          method: 'PUT',
          body: JSON.stringify(body),
        })
      ).status
    expect(await ttl({ ttl_seconds: 0 })).toBe(400)
    expect(await ttl({ ttl_seconds: 60 })).toBe(204)
    expect(await ttl({ ttl_seconds: null })).toBe(204)
    await clock.advance(61_000)
    expect((await trainer.get('checkpoints')).body.checkpoints).toHaveLength(1)
    expect(await ttl({ ttl_seconds: 60 })).toBe(204)
    await clock.advance(61_000)
    expect((await trainer.get('checkpoints')).body.checkpoints).toHaveLength(0)
    const load = { session_id: session, model_seq_id: 5, path, optimizer: true }
    expect((await trainer.send('load_weights', load)).status).toBe(404)
  })

  it('are downloaded from an address that is signed and ends (conformance 59) (TRN-11)', async () => {
    const clock = manualClock(1e12)
    const trainer = await start({ clock, limits: { sessionMs: 1e9 } })
    const { model } = await trained(trainer)
    await trainer.run('save_weights_for_sampler', { model_id: model, seq_id: 3, path: 'a' })
    const answer = await trainer.request(`training_runs/${model}/checkpoints/sampler_weights/a/archive`)
    expect(answer.status).toBe(302)
    expect(new Date(answer.headers.get('expires') ?? '').getTime()).toBe(1e12 + 15 * 60_000)
    const location = answer.headers.get('location') ?? ''
    const archive = await fetch(location)
    expect(archive.status).toBe(200)
    const file = join(folder(), 'a.tar')
    writeFileSync(file, Buffer.from(await archive.arrayBuffer()))
    expect(tarNames(file)).toEqual(['adapter_config.json', 'checkpoint.bin'])
    expect((await fetch(`${location.slice(0, -2)}aa`)).status).toBe(404)
    await clock.advance(16 * 60_000)
    expect((await fetch(location)).status).toBe(404)
  })

  it('are published and taken back, each once (conformance 60) (TRN-11)', async () => {
    const trainer = await start()
    const { model } = await trained(trainer)
    await trainer.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
    const publish = async (method: string) =>
      (await trainer.request(`training_runs/${model}/checkpoints/weights/a/publish`, { method })).status
    expect([await publish('POST'), await publish('POST')]).toEqual([204, 409])
    expect((await trainer.get('checkpoints')).body.checkpoints).toEqual([expect.objectContaining({ public: true })])
    expect([await publish('DELETE'), await publish('DELETE')]).toEqual([204, 409])
  })
})

// The header of a file begins with its name; its size stands in octal at 124.
function tarNames(file: string): string[] {
  const bytes = readFileSync(file)
  const names: string[] = []
  for (let at = 0; bytes[at] !== 0 && at < bytes.length; ) {
    names.push(bytes.toString('utf8', at, bytes.indexOf(0, at)))
    at += 512 + 512 * Math.ceil(Number.parseInt(bytes.toString('latin1', at + 124, at + 135), 8) / 512)
  }
  return names
}
