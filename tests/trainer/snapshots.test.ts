import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mockVocabSize } from '../../src/backends/models/mock-models.ts'
import type { Engine } from '../../src/contracts/index.ts'
import { createMockEngine } from '../../src/engine/mock/mock-engine.ts'
import { onAbort } from '../../src/kernel/index.ts'
import { createTinkerClient } from '../../src/tinker/index.ts'
import { runningTrainers } from './running-trainer.ts'

const start = runningTrainers()

function filesIn(dir: string): string[] {
  const all = readdirSync(join(dir, 'ephemeral'), { recursive: true, encoding: 'utf8' })
  return all.filter((path) => statSync(join(dir, 'ephemeral', path)).isFile())
}

const request = { prompt: Int32Array.from([65, 66]), numSamples: 1, maxTokens: 4, temperature: 1, seed: 1 }

describe('a snapshot', () => {
  it('leaves the disk when it is let go of, and not before (RL-208)', async () => {
    const trainer = await start()
    const client = await createTinkerClient({ preset: 'evsys', baseUrl: trainer.url, apiKey: 'tml-test' })
    const { modelId } = await client.createModel({ baseModel: 'evsys/tiny', rank: 2, seed: 1 })
    const { service } = client
    const first = await service.snapshot(modelId)
    const second = await service.snapshot(modelId)
    expect(await service.sample({ ...request, model: first })).toHaveLength(1)
    expect(filesIn(trainer.dir)).toHaveLength(2)
    await service.remove?.(first)
    await service.remove?.(first) // once is enough
    expect(filesIn(trainer.dir)).toHaveLength(1)
    await expect(service.sample({ ...request, model: first })).rejects.toThrow(/no sampler is called/)
    expect(await service.sample({ ...request, model: second })).toHaveLength(1)
    await client.close('success')
  })
})

/** Draws nothing until it is told to stop. */
function slowEngine(): { engine: Engine; began: Promise<void>; stopped: Promise<void> } {
  const inner = createMockEngine({ vocabSize: mockVocabSize })
  let tellBegan = () => {}
  let tellStopped = () => {}
  const began = new Promise<void>((resolve) => {
    tellBegan = resolve
  })
  const stopped = new Promise<void>((resolve) => {
    tellStopped = resolve
  })
  const engine: Engine = {
    ...inner,
    id: inner.id,
    run(op, signal) {
      if (op.op !== 'sample') return inner.run(op, signal)
      tellBegan()
      return new Promise((_, reject) =>
        onAbort(signal, () => {
          tellStopped()
          reject(signal.reason)
        }),
      )
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
  return { engine, began, stopped }
}

describe('samples that nobody waits for any more', () => {
  it('are stopped while they are drawn (RL-208)', async () => {
    const { engine, began, stopped } = slowEngine()
    const trainer = await start({ engine })
    const client = await createTinkerClient({ preset: 'evsys', baseUrl: trainer.url, apiKey: 'tml-test' })
    const { modelId } = await client.createModel({ baseModel: 'evsys/tiny', rank: 2, seed: 1 })
    const model = await client.service.snapshot(modelId)
    const leaving = new AbortController()
    const drawn = client.service.sample({ ...request, model }, leaving.signal)
    await began
    leaving.abort(new Error('enough'))
    await expect(drawn).rejects.toThrow()
    await stopped
    await client.close('success')
  })
})
