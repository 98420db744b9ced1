import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './model-checkpoint.ts'

const checkpoint: fc.Arbitrary<Checkpoint> = fc.record(
  {
    base_model: fc.string(),
    vocab_size: fc.integer({ min: 1, max: 1000 }),
    rank: fc.integer({ min: 1, max: 64 }),
    adam_step: fc.nat(),
    tensors: fc.dictionary(fc.stringMatching(/^[a-z_.]{1,8}$/), fc.float64Array({ maxLength: 5 })),
  },
  { requiredKeys: ['base_model', 'vocab_size', 'tensors'] },
)

describe('checkpoint bytes', () => {
  it('round-trip, every bit of every value included (PLG-13)', () => {
    fc.assert(
      fc.property(checkpoint, (original) => {
        const bytes = encodeCheckpoint(original)
        expect(decodeCheckpoint(bytes)).toEqual({ ...original, tensors: { ...original.tensors } })
        expect(Buffer.compare(encodeCheckpoint(decodeCheckpoint(bytes)), bytes)).toBe(0)
      }),
    )
  })

  it('are read at any place of a larger buffer (PLG-13)', () => {
    const bytes = encodeCheckpoint({ base_model: 'm', vocab_size: 2, tensors: { w: Float64Array.from([1.5, -2]) } })
    const larger = new Uint8Array(bytes.length + 10)
    larger.set(bytes, 3)
    expect(decodeCheckpoint(larger.subarray(3, 3 + bytes.length)).tensors.w).toEqual(Float64Array.from([1.5, -2]))
  })

  it('are refused when any bit is flipped or any part is missing (PLG-13)', () => {
    fc.assert(
      fc.property(checkpoint, fc.nat(), fc.nat(7), fc.nat(), (original, at, bit, cut) => {
        const bytes = encodeCheckpoint(original)
        const flipped = Uint8Array.from(bytes)
        flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ (1 << bit)
        expect(() => decodeCheckpoint(flipped)).toThrow(expect.objectContaining({ code: 'BACKEND_REFUSED' }))
        expect(() => decodeCheckpoint(bytes.subarray(0, cut % bytes.length))).toThrow(
          expect.objectContaining({ code: 'BACKEND_REFUSED' }),
        )
      }),
    )
  })

  it('are refused whatever else they are (PLG-13)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => decodeCheckpoint(bytes)).toThrow('no checkpoint of a mock model')
      }),
    )
  })

  it('of a newer version are refused as such (PLG-13)', () => {
    const bytes = Buffer.from(encodeCheckpoint({ base_model: 'm', vocab_size: 2, tensors: {} }))
    bytes.writeUInt32LE(2, 8)
    expect(() => decodeCheckpoint(bytes)).toThrow('version 2, this evsys reads version 1')
  })
})
