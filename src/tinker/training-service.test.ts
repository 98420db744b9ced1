import { describe, expect, it } from 'vitest'
import { adam, datum, openClient } from '../../tests/tinker-clients.ts'

describe('the training service of a client', () => {
  it('carries out requests in the order in which they are made (TNK-27)', async () => {
    const { client, double } = await openClient()
    const { modelId } = await client.createModel({ baseModel: 'm' })
    const { service } = client
    const pass = service.forwardBackward(modelId, [datum([1, 2])], { name: 'cross_entropy' })
    const step = service.optimStep(modelId, adam)
    const saved = service.save(modelId, 'a', { kind: 'state', ttlSeconds: 60 })
    expect((await pass).metrics['loss:sum']).toBe(1)
    await step
    expect(await saved).toEqual({ kind: 'state', uri: 'tinker://s0:train:0/weights/a' })
    expect(await service.save(modelId, 'a', { kind: 'sampler' })).toEqual({
      kind: 'sampler',
      uri: 'tinker://s0:train:0/sampler_weights/a',
    })
    const posts = double.seen.map(({ path }) => path).filter((path) => /forward_backward|optim|save/.test(path))
    expect(posts.map((path) => path.slice('/api/v1/'.length))).toEqual([
      'forward_backward',
      'optim_step',
      'save_weights',
      'save_weights_for_sampler',
    ])
    expect(double.of('save_weights')[0]?.json.ttl_seconds).toBe(60)
  })

  it('samples from snapshots, checkpoints and base models, one session each (TNK-27)', async () => {
    const { client, double } = await openClient()
    const { modelId } = await client.createModel({ baseModel: 'm' })
    const { service } = client
    const snapshot = await service.snapshot(modelId)
    const request = { prompt: Int32Array.of(1), numSamples: 1, maxTokens: 1, temperature: 1, seed: 1 }
    const saved = { kind: 'sampler', uri: 'tinker://r/sampler_weights/a' } as const
    for (const model of [snapshot, saved, saved, { baseModel: 'm' }]) await service.sample({ ...request, model })
    expect(double.of('asample').map(({ json }) => json.sampling_session_id)).toEqual([
      's0:sample:0',
      's0:sample:1',
      's0:sample:1',
      's0:sample:2',
    ])
    await service.remove?.(snapshot)
    await service.remove?.(saved).catch(() => {})
    expect(double.seen.at(-1)?.path).toBe('/api/v1/training_runs/r/checkpoints/sampler_weights/a')
  })

  it('refuses models that are not its own (TNK-27)', async () => {
    const { client } = await openClient()
    const { modelId } = await client.createModel({ baseModel: 'm' })
    await client.service.optimStep(modelId, adam)
    await expect(client.service.optimStep('other', adam)).rejects.toThrow(/no model/)
  })
})
