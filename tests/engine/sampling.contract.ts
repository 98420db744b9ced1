// Samples, for every engine.
import { describe, expect, it } from 'vitest'
import type { SampleReq } from '../../src/contracts/index.ts'
import { tinyContext, tinyVocab } from '../tiny-model.ts'
import {
  type CreateEngine,
  ce,
  datum,
  decode,
  lora,
  one,
  openers,
  pass,
  run,
  sample,
  train,
} from './engine-under-test.ts'

export function describeSampling(create: CreateEngine): void {
  const { open } = openers(create)

  describe('sampling', () => {
    it('gives the log-probabilities that training sees, to the last bit (ENG-9, conformance 52)', async () => {
      await using engine = await open(lora(2))
      await train(engine, 5)
      const prompt = [3, 1, 4]
      for (const { tokens, logprobs } of await sample(engine, { numSamples: 3, maxTokens: 10 })) {
        const text = [...prompt, ...tokens]
        const [output] = (await pass(engine, [datum(text)], ce, 'forward')).outputs
        expect([...(output?.logprobs?.data ?? [])].slice(prompt.length - 1)).toEqual([...logprobs])
      }
    })

    it('scores the prompt: the first token by nothing, the others as training does; top k sorted and capped (ENG-9, conformance 53)', async () => {
      await using engine = await open(lora(2))
      const prompt = Int32Array.from([3, 1, 4, 1, 5])
      const { promptLogprobs, topKPromptLogprobs } = await one(engine, {
        prompt,
        promptLogprobs: true,
        topKPromptLogprobs: 20,
      })
      const [output] = (await pass(engine, [datum([...prompt])], ce, 'forward')).outputs
      expect([...(promptLogprobs ?? [])]).toEqual([Number.NaN, ...(output?.logprobs?.data ?? [])])
      const row = (at: number) => ({
        tokens: [...(topKPromptLogprobs?.tokens.subarray(at * 20, (at + 1) * 20) ?? [])],
        logprobs: [...(topKPromptLogprobs?.logprobs.subarray(at * 20, (at + 1) * 20) ?? [])],
      })
      expect(new Set(row(0).tokens)).toEqual(new Set([-1]))
      for (let at = 1; at < prompt.length; at++) {
        const { tokens, logprobs } = row(at)
        expect(tokens.slice(tinyVocab)).toEqual([-1, -1, -1])
        expect([...tokens.slice(0, tinyVocab)].sort((a, b) => a - b)).toEqual(
          Array.from({ length: tinyVocab }, (_, v) => v),
        )
        expect(logprobs.slice(0, tinyVocab)).toEqual(logprobs.slice(0, tinyVocab).sort((a, b) => b - a))
        expect(logprobs[tokens.indexOf(prompt[at] ?? -1)]).toBe(promptLogprobs?.[at])
      }
      expect((await one(engine)).promptLogprobs).toBeUndefined()
    })

    it('repeats with the seed; samples differ; one does not depend on how many there are (ENG-9, conformance 54)', async () => {
      await using engine = await open(lora(2))
      const all = await sample(engine, { numSamples: 5, maxTokens: 12 })
      expect(await sample(engine, { numSamples: 5, maxTokens: 12 })).toEqual(all)
      expect(await sample(engine, { numSamples: 2, maxTokens: 12 })).toEqual(all.slice(0, 2))
      expect(new Set(all.map(({ tokens }) => tokens.join())).size).toBe(5)
      expect((await one(engine, { maxTokens: 5 })).tokens).toEqual(all[0]?.tokens.subarray(0, 5))
      expect(await sample(engine, { numSamples: 5, maxTokens: 12, seed: 8 })).not.toEqual(all)
      const greedy = await sample(engine, { numSamples: 2, temperature: 0 })
      expect(greedy[0]?.tokens).toEqual(greedy[1]?.tokens)
      for (const limit of [{ topK: 1 }, { topP: 1e-9 }])
        expect((await one(engine, limit)).tokens).toEqual(greedy[0]?.tokens)
    })

    it('draws each token as often as temperature, top k and top p make it likely (ENG-9)', async () => {
      await using engine = await open(lora(2))
      const n = 3000
      for (const limit of [{}, { temperature: 0.5 }, { topK: 4 }, { topP: 0.6 }]) {
        const counts = new Map<number, { count: number; p: number }>()
        for (const { tokens, logprobs } of await sample(engine, { numSamples: n, maxTokens: 1, ...limit })) {
          const [token = -1, p = 0] = [tokens[0], Math.exp(logprobs[0] ?? 0)]
          counts.set(token, { p, count: (counts.get(token)?.count ?? 0) + 1 })
        }
        for (const { count, p } of counts.values())
          expect(Math.abs(count - n * p)).toBeLessThan(5 * Math.sqrt(n * p) + 5)
        expect([...counts.values()].reduce((sum, { p }) => sum + p, 0)).toBeGreaterThan(0.98)
      }
    })

    it('ends at a token, at a text, or at the bound, and keeps what it ended with (ENG-9, conformance 51)', async () => {
      await using engine = await open(lora(2))
      const plain = await one(engine, { maxTokens: 8 })
      expect(plain).toMatchObject({ stopReason: 'length', tokens: expect.objectContaining({ length: 8 }) })
      const tokens = [...plain.tokens]
      const at = tokens.findIndex((token, i) => i > 1 && tokens.indexOf(token) === i)
      const byToken = await one(engine, { maxTokens: 8, stop: [tokens[at] ?? -1] })
      expect(byToken).toMatchObject({ stopReason: 'stop', tokens: plain.tokens.slice(0, at + 1) })
      const text = decode(tokens.slice(at - 1, at + 1))
      const byText = await one(engine, { maxTokens: 8, stop: ['never', text] })
      expect(byText).toMatchObject({ stopReason: 'stop', tokens: plain.tokens.slice(0, at + 1) })
      expect(byText.logprobs).toEqual(plain.logprobs.slice(0, at + 1))
      await run(engine, { op: 'create', model: 'mute', baseModel: 'qwen3:mute' })
      await expect(sample(engine, { stop: ['x'] }, 'mute')).rejects.toThrow('without a tokenizer')
    })

    it('ends where the context is full, and takes a prompt that fills it (ENG-9)', async () => {
      await using engine = await open(lora(2))
      const prompt = new Int32Array(tinyContext - 2).fill(1)
      expect(await one(engine, { prompt, maxTokens: 50 })).toMatchObject({
        stopReason: 'length',
        tokens: expect.objectContaining({ length: 3 }),
      })
      const full = new Int32Array(tinyContext).fill(1)
      const scored = await one(engine, { prompt: full, maxTokens: 1, promptLogprobs: true })
      expect(scored.promptLogprobs).toHaveLength(tinyContext)
      expect(scored.tokens).toHaveLength(1)
    })

    it.each<[string, Partial<SampleReq>]>([
      ['an empty prompt', { prompt: new Int32Array() }],
      ['an unknown token', { prompt: Int32Array.from([tinyVocab]) }],
      ['a prompt beyond the context', { prompt: new Int32Array(tinyContext + 1) }],
      ['no samples', { numSamples: 0 }],
      ['no tokens', { maxTokens: 0 }],
      ['a negative temperature', { temperature: -1 }],
      ['a probability above one', { topP: 1.5 }],
      ['an empty stop', { stop: [''] }],
      ['a seed that is no number', { seed: 0.5 }],
    ])('refuses %s (ENG-11)', async (_what, more) => {
      await using engine = await open(lora(2))
      await expect(sample(engine, more)).rejects.toMatchObject({ code: 'BACKEND_REFUSED' })
      expect(await sample(engine)).toHaveLength(1)
    })
  })
}
