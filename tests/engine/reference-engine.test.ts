import { describe, expect, it } from 'vitest'
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.ts'
import { sha256 } from '../../src/kernel/index.ts'
import { torchFixture } from '../torch-fixture.ts'
import { describeAdapters } from './adapters.contract.ts'
import { bytesOf, lora, run, train } from './engine-under-test.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeSampling } from './sampling.contract.ts'
import { describeTraining } from './training.contract.ts'

describe('the reference engine', () => {
  describeTraining(createReferenceEngine)
  describeAdapters(createReferenceEngine)
  describeRefusals(createReferenceEngine)
  describeSampling(createReferenceEngine)

  it('gives these bytes: whoever changes them also changes the engine’s id (ENG-13)', async () => {
    const base = torchFixture('llama-llama3-tied').folder
    await using engine = createReferenceEngine({ resolve: async () => ({ folder: base }) })
    await run(engine, { op: 'create', model: 'm', baseModel: 'fixture', lora: lora(2) })
    await train(engine, 5)
    expect({ id: engine.id, state: sha256(await bytesOf(engine, 'export_state')) }).toEqual({
      id: {
        kind: 'reference',
        sourceHash: sha256('reference engine, numbers of version 1'),
        threads: 1,
        cpuFeatures: [expect.stringMatching(/^v8-\d+\.\d+$/)],
      },
      state: '3ec6d31fdbfbe5473a3ce9ced897d8efd62106926bf5d1e9ea3b33e95882f8a0',
    })
  })
})
