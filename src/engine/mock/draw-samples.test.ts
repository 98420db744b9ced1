import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import type { Sample, SampleReq } from '../../contracts/index.ts'
import { BigramModel } from './bigram-model.ts'
import { drawSamples } from './mock-engine.ts'

const vocabSize = 130

/** A model whose rows are far from uniform. */
function sharpModel(): BigramModel {
  const model = new BigramModel({ baseModel: 'm', vocabSize }, 1)
  model.parameters.weight?.forEach((value, i, all) => {
    all[i] = value * 150
  })
  model.changed()
  return model
}
const model = sharpModel()

type Request = Omit<SampleReq, 'model'>
const request = (more: Partial<Request> = {}): Request => ({
  prompt: Int32Array.from([1, 2]),
  numSamples: 1,
  maxTokens: 20,
  temperature: 1,
  seed: 7,
  ...more,
})
const draw = (more: Partial<Request> = {}): Sample[] => [...drawSamples(model, request(more))]
const drawOne = (more: Partial<Request> = {}): Sample => draw(more)[0] ?? expect.fail('no sample')

describe('drawSamples', () => {
  it('repeats with the seed; a sample does not depend on how many are drawn (PLG-13)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0 }), fc.integer({ min: 1, max: 5 }), (seed, count) => {
        const all = draw({ seed, numSamples: 5 })
        expect(draw({ seed, numSamples: count })).toEqual(all.slice(0, count))
      }),
      { numRuns: scaled(30) },
    )
  })

  it('differs between seeds and between samples (PLG-13)', () => {
    const texts = [...draw({ numSamples: 4 }), ...draw({ numSamples: 4, seed: 8 })].map(({ tokens }) => tokens.join())
    expect(new Set(texts).size).toBe(8)
  })

  it('continues a longer completion with the same tokens (PLG-13)', () => {
    expect(drawOne({ maxTokens: 30 }).tokens.subarray(0, 10)).toEqual(drawOne({ maxTokens: 10 }).tokens)
  })

  it('draws each token as often as it is likely (PLG-12)', () => {
    const counts = new Float64Array(vocabSize)
    const n = 20_000
    for (const { tokens } of draw({ numSamples: n, maxTokens: 1 })) {
      const at = tokens[0] ?? 0
      counts[at] = (counts[at] ?? 0) + 1
    }
    const probabilities = model.logprobs(2).map(Math.exp)
    for (let u = 0; u < vocabSize; u++) {
      const p = probabilities[u] ?? 0
      expect(Math.abs((counts[u] ?? 0) - n * p)).toBeLessThan(5.5 * Math.sqrt(n * p * (1 - p)) + 5)
    }
  })

  it('is greedy at temperature 0, with top_k 1 and with a tiny top_p, and reports the model’s own probability (PLG-12)', () => {
    const greedy = drawOne({ temperature: 0 })
    expect(drawOne({ topK: 1 }).tokens).toEqual(greedy.tokens)
    expect(drawOne({ topP: 1e-9 }).tokens).toEqual(greedy.tokens)
    let previous = 2
    for (const [i, token] of greedy.tokens.entries()) {
      const row = model.logprobs(previous)
      expect(row[token]).toBe(Math.max(...row))
      expect(greedy.logprobs[i]).toBe(row[token])
      previous = token
    }
  })

  it('reports log-probabilities under the distribution that was drawn from (PLG-12)', () => {
    const kept = (limit: Partial<Request>) => {
      const seen = new Map<number, number>()
      for (const { tokens, logprobs } of draw({ ...limit, numSamples: 3000, maxTokens: 1 })) {
        seen.set(tokens[0] ?? -1, logprobs[0] ?? Number.NaN)
      }
      return seen
    }
    const likeliest = Array.from(model.logprobs(2).entries()).sort(([, a], [, b]) => b - a)
    const three = kept({ topK: 3, temperature: 0.7 })
    expect([...three.keys()].sort()).toEqual(
      likeliest
        .slice(0, 3)
        .map(([token]) => token)
        .sort(),
    )
    expect([...three.values()].reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 9)
    const half = [...kept({ topP: 0.5 }).entries()]
    expect(half.reduce((sum, [, logprob]) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 9)
    const mass = half.reduce((sum, [token]) => sum + Math.exp(model.logprobs(2)[token] ?? 0), 0)
    expect(mass).toBeGreaterThanOrEqual(0.5)
    expect(half).toHaveLength(
      likeliest.findIndex((_, i) => likeliest.slice(0, i).reduce((sum, [, l]) => sum + Math.exp(l), 0) >= 0.5),
    )
  })

  it('ends at a stop, a token or a text, which it keeps (PLG-12)', () => {
    const ascii = [1, 2, 3, 4, 5].find((seed) =>
      drawOne({ seed })
        .tokens.subarray(0, 3)
        .every((token) => token < 128),
    )
    const seed = ascii ?? expect.fail('every seed begins with a token that is no character')
    const [first = -1, second = -1, third = -1] = drawOne({ seed }).tokens
    const byToken = drawOne({ seed, stop: [second] })
    expect(byToken).toMatchObject({ tokens: Int32Array.from([first, second]), stopReason: 'stop' })
    expect(byToken.logprobs).toHaveLength(2)
    const byText = drawOne({ seed, stop: ['never', String.fromCharCode(second, third)] })
    expect(byText).toMatchObject({ tokens: Int32Array.from([first, second, third]), stopReason: 'stop' })
    expect(drawOne({ seed, stop: [vocabSize] }).stopReason).toBe('length')
  })

  it('scores the prompt on request (PLG-12)', () => {
    const sample = drawOne({ prompt: Int32Array.from([4, 5, 6]), promptLogprobs: true, topKPromptLogprobs: 2 })
    expect(sample.promptLogprobs).toEqual(
      Float64Array.from([Number.NaN, model.logprobs(4)[5] ?? 0, model.logprobs(5)[6] ?? 0]),
    )
    const top = sample.topKPromptLogprobs
    expect(top?.k).toBe(2)
    expect(top?.tokens.subarray(0, 2)).toEqual(Int32Array.from([-1, -1]))
    expect(top?.logprobs[2]).toBe(Math.max(...model.logprobs(4)))
    expect(drawOne().promptLogprobs).toBeUndefined()
  })

  it.each<[string, Partial<Request>]>([
    ['an empty prompt', { prompt: new Int32Array() }],
    ['an unknown token', { prompt: Int32Array.from([vocabSize]) }],
    ['a negative token', { prompt: Int32Array.from([-1]) }],
    ['no samples', { numSamples: 0 }],
    ['half a token', { maxTokens: 1.5 }],
    ['a negative temperature', { temperature: -1 }],
    ['an endless temperature', { temperature: Number.POSITIVE_INFINITY }],
    ['no probability', { topP: 0 }],
    ['an empty stop', { stop: [''] }],
    ['a seed that is no number', { seed: Number.NaN }],
    ['a fraction of a list', { topKPromptLogprobs: 0.5 }],
  ])('refuses %s (PLG-13)', (_name, more) => {
    expect(() => draw(more)).toThrow(expect.objectContaining({ code: 'BACKEND_REFUSED' }))
  })

  it('refuses to sample from weights that diverged (PLG-13)', () => {
    const broken = sharpModel()
    broken.parameters.weight?.fill(Number.NaN)
    broken.changed()
    expect(() => [...drawSamples(broken, request())]).toThrow('training has diverged')
  })
})
