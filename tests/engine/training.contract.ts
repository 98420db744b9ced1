// Gradients and steps, for every engine.
import { describe, expect, it } from 'vitest'
import type { Datum } from '../../src/contracts/index.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import {
  adam,
  bytesOf,
  type CreateEngine,
  ce,
  corpus,
  datum,
  expectNear,
  float64,
  floats,
  ints,
  lora,
  type Numbers,
  openers,
  pass,
  run,
  sample,
  step,
  train,
  weightsOf,
} from './engine-under-test.ts'

export function describeTraining(create: CreateEngine, numbers: Numbers = float64): void {
  const { open } = openers(create)

  describe('training', () => {
    it.each([
      ['all weights', undefined],
      ['an adapter', lora(4)],
    ])('learns a small corpus by heart with %s (ENG-8)', async (_what, spec) => {
      await using engine = await open(spec)
      const before = (await pass(engine, corpus, ce, 'forward')).metrics['loss:sum'] ?? 0
      await train(engine, 60)
      expect((await pass(engine, corpus, ce, 'forward')).metrics['loss:sum'] ?? 0).toBeLessThan(before / 4)
    })

    it('takes no gradient from a forward pass (ENG-8, conformance 24)', async () => {
      await using engine = await open()
      const before = await bytesOf(engine)
      await pass(engine, corpus, ce, 'forward')
      expect(await step(engine)).toBe(0)
      expect(await bytesOf(engine)).toEqual(before)
    })

    it('answers one record per datum, in order, in the shape of its targets (ENG-8, conformance 27)', async () => {
      await using engine = await open(lora(2))
      const many: Datum = {
        tokens: Int32Array.from([1, 2]),
        lossInputs: {
          target_tokens: { ...ints([1, 2, 3, 4, 5, 6]), shape: [2, 3] },
          weights: floats([1, 0, 0, 0, 0, 1], [2, 3]),
        },
      }
      const { outputs } = await pass(engine, [many, ...corpus])
      expect(outputs.map(({ logprobs }) => logprobs?.shape)).toEqual([[2, 3], [4], [2], [3], [5]])
      for (const [i, each] of corpus.entries()) {
        expect((await pass(engine, [each], ce, 'forward')).outputs).toEqual([outputs[i + 1]])
      }
      const single = { ...many, lossInputs: { target_tokens: ints([2, 5]), weights: floats([1, 1]) } }
      const [row] = (await pass(engine, [single], ce, 'forward')).outputs
      expect([...(row?.logprobs?.data ?? [])]).toEqual([outputs[0]?.logprobs?.data[1], outputs[0]?.logprobs?.data[4]])
    })

    it('names metrics with their reduction (ENG-8, conformance 28)', async () => {
      await using engine = await open(lora(2))
      const { metrics } = await pass(engine, corpus)
      expect(Object.keys(metrics)).toContain('loss:sum')
      for (const key of Object.keys(metrics))
        expect(key).toMatch(/^[^:]+:(mean|sum|min|max|slack|hash_unordered|unique)$/)
    })

    it('sums: weights scale the gradient, and so do copies (ENG-8, conformance 29)', async () => {
      const normOf = async (data: Datum[]) => {
        await using engine = await open(lora(2))
        await pass(engine, data)
        return step(engine)
      }
      const plain = await normOf([datum([1, 2, 3, 4])])
      expectNear(await normOf([datum([1, 2, 3, 4], 10)]), 10 * plain, numbers)
      expectNear(await normOf(Array.from({ length: 4 }, () => datum([1, 2, 3, 4]))), 4 * plain, numbers)
    })

    it('adds up the gradients of all calls until the step (ENG-8, conformance 30)', async () => {
      await using whole = await open(lora(2))
      await using halves = await open(lora(2))
      await pass(whole, corpus)
      for (const part of [corpus.slice(0, 2), corpus.slice(2)]) await pass(halves, part)
      expectNear(await step(halves), await step(whole), numbers)
      const expected = await weightsOf(whole)
      for (const [name, { data }] of await weightsOf(halves)) {
        for (const [i, value] of data.entries()) expectNear(value, expected.get(name)?.data[i] ?? Number.NaN, numbers)
      }
    })

    it('uses gradients up: a second step only lets the moments decay (ENG-8, conformance 34)', async () => {
      await using engine = await open(lora(2))
      await pass(engine, corpus)
      expect(await step(engine)).toBeGreaterThan(0)
      const first = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam
      expect(await step(engine)).toBe(0)
      const second = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam
      expect([first?.step, second?.step]).toEqual([1, 2])
      for (const [name, { data }] of second?.first ?? []) {
        for (const [i, value] of data.entries())
          expectNear(value, 0.9 * (first?.first.get(name)?.data[i] ?? Number.NaN), numbers)
      }
    })

    it('stays finite where the weight is zero and the target all but impossible (ENG-8, conformance 38)', async () => {
      await using engine = await open()
      const checkpoint = decodeCheckpoint(await bytesOf(engine))
      checkpoint.weights.get('lm_head.weight')?.data.forEach((value, i, all) => {
        all[i] = value * 1e5
      })
      await run(engine, { op: 'import', model: 'm', bytes: encodeCheckpoint(checkpoint), optimizer: false })
      const extreme: Datum = {
        tokens: Int32Array.from([1, 2]),
        lossInputs: { target_tokens: ints([5, 6]), weights: floats([0, 0]) },
      }
      const { metrics, outputs } = await pass(engine, [extreme])
      expect(outputs[0]?.logprobs?.data[0]).toBeLessThan(-1e4)
      expect(metrics['loss:sum']).toBe(0)
      expect(await step(engine)).toBe(0)
    })

    it('tells of divergence by the loss, skips the step, and keeps the weights (ENG-8)', async () => {
      await using engine = await open()
      const checkpoint = decodeCheckpoint(await bytesOf(engine))
      checkpoint.weights.get('lm_head.weight')?.data.fill(numbers.huge)
      const bytes = encodeCheckpoint(checkpoint)
      await run(engine, { op: 'import', model: 'm', bytes, optimizer: false })
      for (const [loss, lossInputs] of [
        [ce, {}],
        [{ name: 'importance_sampling' }, { logprobs: floats([0, 0]), advantages: floats([1, 1]) }],
      ] as const) {
        const { weights, target_tokens = ints([]) } = datum([1, 2, 3]).lossInputs
        const inputs =
          loss === ce && weights !== undefined ? { target_tokens, weights } : { target_tokens, ...lossInputs }
        const { metrics } = await pass(engine, [{ tokens: Int32Array.from([1, 2]), lossInputs: inputs }], loss)
        expect(metrics['loss:sum']).toBeNaN()
        const result = await run(engine, { op: 'optim_step', model: 'm', adam })
        expect(result).toEqual({ metrics: { 'optim/skipped_nonfinite': 1 } })
      }
      expect(await bytesOf(engine)).toEqual(bytes)
      await expect(sample(engine)).rejects.toThrow('training has diverged')
    })

    it('lets no text see another: a row has the same bits alone and in a batch (ENG-13)', async () => {
      await using engine = await open(lora(2))
      await train(engine, 3)
      const together = await pass(engine, corpus, ce, 'forward')
      for (const [i, each] of corpus.entries()) {
        expect((await pass(engine, [each], ce, 'forward')).outputs).toEqual([together.outputs[i]])
      }
    })

    it('gives equal bytes for equal seeds, also beside other adapters of the same base (ENG-13)', async () => {
      await using alone = await open(lora(2))
      await train(alone, 3)
      await using beside = await open(lora(2))
      await run(beside, { op: 'create', model: 'other', baseModel: 'qwen3', lora: lora(3, 9) })
      await run(beside, { op: 'create', model: 'whole', baseModel: 'qwen3' })
      for (let i = 0; i < 3; i++) {
        for (const model of ['other', 'whole', 'm']) {
          await run(beside, { op: 'forward_backward', model, data: corpus, loss: ce })
          await run(beside, { op: 'optim_step', model, adam })
        }
      }
      expect(await bytesOf(beside, 'export_state')).toEqual(await bytesOf(alone, 'export_state'))
    })
  })
}
