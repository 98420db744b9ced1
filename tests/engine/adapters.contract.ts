// Adapters and checkpoints, for every engine.
import { describe, expect, it } from 'vitest'
import type { LoraSpec } from '../../src/contracts/index.ts'
import { decodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import { tinyConfigs } from '../tiny-model.ts'
import {
  all,
  bytesOf,
  type CreateEngine,
  ce,
  corpus,
  lora,
  openers,
  pass,
  run,
  sample,
  train,
  weightsOf,
} from './engine-under-test.ts'

export function describeAdapters(create: CreateEngine): void {
  const { open, openEngine } = openers(create)

  describe('an adapter', () => {
    it.each(Object.keys(tinyConfigs))(
      'of %s follows from its seed and changes nothing at first (ENG-5, conformance 42)',
      async (base) => {
        const start = async (spec?: LoraSpec) => {
          await using engine = await open(spec, base)
          return { bytes: await bytesOf(engine), outputs: (await pass(engine, corpus, ce, 'forward')).outputs }
        }
        const [whole, first, again, other] = [
          await start(),
          await start(lora(2)),
          await start(lora(2)),
          await start(lora(2, 8)),
        ]
        expect(again.bytes).toEqual(first.bytes)
        expect(other.bytes).not.toEqual(first.bytes)
        for (const { outputs } of [first, other]) expect(outputs).toEqual(whole.outputs)
      },
    )

    it.each([
      ['trainAttention', /self_attn\.[qkvo]_proj\.lora_/, 16],
      ['trainMlp', /mlp\.(gate|up|down)_proj\.lora_/, 12],
      ['trainUnembedding', /model\.lm_head\.lora_/, 2],
    ])('trains with %s alone only what it names (ENG-5, conformance 43)', async (part, names, count) => {
      const none = { trainAttention: false, trainMlp: false, trainUnembedding: false }
      await using engine = await open(lora(2, 1, { ...none, [part]: true }))
      const before = await weightsOf(engine)
      await train(engine, 2)
      const after = await weightsOf(engine)
      expect(after.size).toBe(count)
      for (const [name, { data }] of after) {
        expect(name).toMatch(names)
        expect(data, name).not.toEqual(before.get(name)?.data)
      }
    })
  })

  describe('checkpoints', () => {
    it('go on as if nothing had happened, with the optimiser; without it Adam starts anew (ENG-10, conformance 44)', async () => {
      await using whole = await open(lora(2))
      await train(whole, 5)
      await using first = await open(lora(2))
      await train(first, 3)
      const saved = await bytesOf(first, 'export_state')
      await using second = await open(lora(2, 99))
      await run(second, { op: 'import', model: 'm', bytes: saved, optimizer: true })
      await train(second, 2)
      expect(await bytesOf(second, 'export')).not.toEqual(saved)
      expect(await weightsOf(second)).toEqual(await weightsOf(whole))
      await using third = await open(lora(2))
      await run(third, { op: 'import', model: 'm', bytes: saved, optimizer: false })
      await train(third, 2)
      expect(await weightsOf(third)).not.toEqual(await weightsOf(whole))
      expect(decodeCheckpoint(await bytesOf(third, 'export_state')).adam?.step).toBe(2)
    })

    it('keep the weights of their moment, also as a model of their own (ENG-10, conformance 48)', async () => {
      await using engine = await open(lora(2))
      await train(engine, 5)
      const snapshot = await bytesOf(engine)
      await run(engine, { op: 'import', model: 'frozen', bytes: snapshot, optimizer: false })
      const before = await sample(engine, { numSamples: 3 }, 'frozen')
      expect(before).toEqual(await sample(engine, { numSamples: 3 }))
      await train(engine, 5)
      expect(await sample(engine, { numSamples: 3 }, 'frozen')).toEqual(before)
      expect(await sample(engine, { numSamples: 3 })).not.toEqual(before)
    })

    it('of a whole model work alike, and leave the base as it was (ENG-10)', async () => {
      await using engine = await open()
      await run(engine, { op: 'create', model: 'base', baseModel: 'qwen3' })
      const untouched = await bytesOf(engine, 'export', 'base')
      await train(engine, 2)
      const bytes = await bytesOf(engine, 'export_state')
      expect(await bytesOf(engine, 'export', 'base')).toEqual(untouched)
      await using other = await openEngine()
      await run(other, { op: 'import', model: 'm', bytes, optimizer: true })
      await train(engine, 1)
      await train(other, 1)
      expect(await bytesOf(other, 'export_state')).toEqual(await bytesOf(engine, 'export_state'))
    })

    it.each<[string, LoraSpec | undefined, string, RegExp]>([
      ['another rank', lora(3), 'qwen3', /adapter is of rank 2 .*, the model’s is of rank 3/],
      [
        'other parts',
        lora(2, 1, { ...all, trainMlp: false }),
        'qwen3',
        /the model’s is of rank 2 \(attention, unembedding\)/,
      ],
      ['no adapter', undefined, 'qwen3', /the model’s is none/],
      ['another base', lora(2), 'llama', /base model is qwen3, the model’s is llama/],
    ])('are refused by a model with %s, which stays as it was (ENG-10)', async (_what, spec, base, message) => {
      await using source = await open(lora(2))
      const bytes = await bytesOf(source, 'export_state')
      await using engine = await open(spec, base)
      const before = await bytesOf(engine)
      await expect(run(engine, { op: 'import', model: 'm', bytes, optimizer: true })).rejects.toMatchObject({
        code: 'BACKEND_REFUSED',
        message: expect.stringMatching(message),
      })
      expect(await bytesOf(engine)).toEqual(before)
    })

    it('without an optimiser are refused where one is asked for (ENG-10)', async () => {
      await using engine = await open(lora(2))
      const op = { op: 'import', model: 'm', bytes: await bytesOf(engine), optimizer: true } as const
      await expect(run(engine, op)).rejects.toThrow('holds no optimiser state')
    })
  })
}
