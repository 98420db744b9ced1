import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { jsonFixture, relativeDistance } from '../../../tests/torch-fixture.ts'
import { parseModelConfig } from '../files/model-config.ts'
import { rotate, rotationOf } from './rope.ts'

const cases = z
  .array(
    z.object({
      rope: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
      head_dim: z.number(),
      max_position_embeddings: z.number(),
      frequencies: z.array(z.number()),
      scale: z.number(),
    }),
  )
  .parse(jsonFixture('rope'))

describe('rotations', () => {
  it.each(cases)('of $rope are those of transformers (ENG-3)', ({ rope, frequencies, scale, ...config }) => {
    const text = JSON.stringify({
      model_type: 'llama',
      vocab_size: 8,
      hidden_size: 64,
      intermediate_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 4,
      rope_parameters: rope,
      ...config,
    })
    const rotation = rotationOf(parseModelConfig(text, 'config.json'))
    // Theirs are computed in float32.
    for (const [i, frequency] of frequencies.entries()) {
      expect(relativeDistance([rotation.frequencies[i] ?? Number.NaN], [frequency])).toBeLessThan(1e-6)
    }
    expect(rotation.scale).toBeCloseTo(scale, 12)
  })

  it('keep what two positions say about each other, whatever their place (ENG-3)', () => {
    const rotation = { frequencies: Float64Array.from([1, 0.1]), scale: 1 }
    const dotAt = (q: number, k: number) => {
      const [a, b] = [Float64Array.from([1, 2, -1, 0.5]), Float64Array.from([0.3, -1, 2, 1])]
      rotate(a, 1, q, rotation)
      rotate(b, 1, k, rotation)
      return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
    }
    expect(dotAt(7, 3)).toBeCloseTo(dotAt(1007, 1003), 9)
    expect(dotAt(7, 3)).not.toBeCloseTo(dotAt(7, 4), 3)
  })
})
