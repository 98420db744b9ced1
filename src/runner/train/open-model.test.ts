import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runAssignment } from '../../../tests/run-assignment.ts'
import { runServices } from '../../../tests/run-services.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { openModel } from './open-model.ts'

const folder = temporaryFolders()
const adam = { learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8 }
const tensor = (data: Int32Array | Float64Array) => ({ data, shape: [data.length] })
const data = [
  {
    tokens: Int32Array.of(1, 2, 3),
    lossInputs: { target_tokens: tensor(Int32Array.of(2, 3, 4)), weights: tensor(Float64Array.of(1, 1, 1)) },
  },
]
const loss = { name: 'cross_entropy' }
const fileOf = (uri: string) => fileURLToPath(`file:${uri.slice('mock:'.length)}`)

async function open(from?: { ref: { kind: 'state'; uri: string }; optimizer: boolean }) {
  const { config, run_dir: runDir } = runAssignment(folder())
  return openModel({ config, loraRank: undefined, runDir, services: await runServices(), from })
}

describe('a model in training', () => {
  it('goes on where its state was saved, with the optimiser or without (LAB-54)', async () => {
    await using model = await open()
    for (let i = 0; i < 3; i++) await model.step([{ data, loss }], adam)
    const ref = await model.save('a', 'state')
    const {
      results: [went],
    } = await model.step([{ data, loss }], adam)
    const {
      results: [then],
    } = await model.step([{ data, loss }], adam)
    const losses = async (optimizer: boolean) => {
      await using again = await open({ ref, optimizer })
      const first = await again.step([{ data, loss }], adam)
      const second = await again.step([{ data, loss }], adam)
      return [first.results[0]?.metrics['loss:sum'], second.results[0]?.metrics['loss:sum']]
    }
    expect(await losses(true)).toEqual([went?.metrics['loss:sum'], then?.metrics['loss:sum']])
    const [same, other] = await losses(false)
    expect(same).toBe(went?.metrics['loss:sum'])
    expect(other).not.toBe(then?.metrics['loss:sum'])
  })

  it('lends its service, before and after requests of the lab (LAB-49)', async () => {
    await using model = await open()
    await model.step([{ data, loss }], adam)
    const { modelId } = model.backend
    const lent = model.service
    await Promise.all([lent.forwardBackward(modelId, data, loss), lent.optimStep(modelId, adam)])
    const snapshot = await model.snapshot()
    await Promise.all([lent.optimStep(modelId, adam), lent.forwardBackward(modelId, data, loss)])
    await lent.save(modelId, 'mine', { kind: 'sampler' })
    await model.step([{ data, loss }], adam)
    const prompt = Int32Array.of(1)
    expect(
      await lent.sample({ model: snapshot, prompt, numSamples: 1, maxTokens: 2, temperature: 0, seed: 1 }),
    ).toHaveLength(1)
  })

  it('lets go of what was saved, and of snapshots (LAB-54)', async () => {
    await using model = await open()
    const saved = await model.save('a', 'sampler')
    expect(existsSync(fileOf(saved.uri))).toBe(true)
    expect(await model.drop(saved)).toBe(true)
    expect(existsSync(fileOf(saved.uri))).toBe(false)
    const snapshot = await model.snapshot()
    await model.drop(snapshot)
    const request = { model: snapshot, prompt: Int32Array.of(1), numSamples: 1, maxTokens: 1, temperature: 0, seed: 1 }
    await expect(model.sample(request)).rejects.toMatchObject({ code: 'BACKEND_REFUSED' })
    expect((await model.snapshot()).uri).not.toBe(snapshot.uri)
  })

  it('that cannot load its weights is closed and named (LAB-54)', async () => {
    const nowhere = { ref: { kind: 'state' as const, uri: 'mock:///nowhere/x.mock' }, optimizer: true }
    await expect(open(nowhere)).rejects.toMatchObject({ code: 'BACKEND_FAILED' })
  })
})
