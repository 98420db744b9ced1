import { describe, expect, it } from 'vitest'
import { keyedRandom } from '../../../src/kernel/index.ts'
import { trainKneserNey } from './kneser-ney.ts'

const vocabSize = 7
const random = keyedRandom(0, 'kneser-ney')
const text = Uint16Array.from({ length: 3000 }, (_, at) =>
  random.int(3) === 0 ? random.int(vocabSize) : (at * at) % vocabSize,
)

describe('trainKneserNey', () => {
  it('gives probabilities that add up to one after any context (MOD-40)', () => {
    const model = trainKneserNey(text, { order: 4, vocabSize })
    for (const context of [[], [3], [1, 2], [0, 0, 0], [6, 5, 4, 3, 2], [...text.slice(100, 110)]]) {
      const sum = Array.from({ length: vocabSize }, (_, token) =>
        model.probability(Uint16Array.from([...context, token])),
      ).reduce((a, b) => a + b)
      expect(sum).toBeCloseTo(1, 12)
    }
  })

  it('counts by hand: one word, always after another, is rare elsewhere (MOD-40)', () => {
    // Token 2 is frequent, but only after 1: by Kneser and Ney it is unlikely after a context that was never seen.
    const stream = Uint16Array.from(
      Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? 1 : at % 8 === 7 ? 3 + ((at >> 3) % 3) : 2)),
    )
    const model = trainKneserNey(stream, { order: 2, vocabSize })
    expect(model.probability(Uint16Array.of(1, 2))).toBeGreaterThan(0.6)
    expect(model.probability(Uint16Array.of(6, 2))).toBeLessThan(0.35)
  })

  it('needs fewer bits with longer contexts where these decide (MOD-40)', () => {
    const bits = [1, 2, 3].map((order) => trainKneserNey(text, { order, vocabSize }).bits(text.slice(0, 500)))
    expect(bits[1]).toBeLessThan(bits[0] ?? 0)
    expect(bits[2]).toBeLessThan(bits[1] ?? 0)
  })
})
