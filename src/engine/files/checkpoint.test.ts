import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts'
import { encodeSafetensors } from './safetensors-file.ts'

const lora = { rank: 2, seed: 1, trainAttention: true, trainMlp: false, trainUnembedding: true }
const tensors = fc
  .dictionary(fc.stringMatching(/^[a-z][a-z.]{0,8}$/), fc.float64Array({ maxLength: 4, noNaN: true }))
  .map((all) => new Map(Object.entries(all).map(([name, data]) => [name, { shape: [data.length], data }])))
const checkpoint: fc.Arbitrary<Checkpoint> = fc.oneof(
  fc.record({ baseModel: fc.string(), lora: fc.constant(lora), alpha: fc.constant(32), weights: tensors }),
  fc.record({
    baseModel: fc.string(),
    lora: fc.constant(undefined),
    alpha: fc.constant(undefined),
    weights: tensors,
    adam: fc.record({ step: fc.nat(), first: tensors, second: tensors }),
  }),
)
const refused = expect.objectContaining({ code: 'BACKEND_REFUSED' })

describe('a checkpoint', () => {
  it('round-trips, every bit of every value included (ENG-10)', () => {
    fc.assert(
      fc.property(checkpoint, (original) => {
        const bytes = encodeCheckpoint(original)
        expect(decodeCheckpoint(bytes)).toEqual(original)
        expect(encodeCheckpoint(decodeCheckpoint(bytes))).toEqual(bytes)
      }),
      { numRuns: scaled(30) },
    )
  })

  it('is refused when any part is cut, or any bit flipped that is not a mere space (ENG-10)', () => {
    fc.assert(
      fc.property(checkpoint, fc.nat(), fc.nat(7), fc.nat(), (original, at, bit, cut) => {
        const bytes = encodeCheckpoint(original)
        const flipped = Uint8Array.from(bytes)
        flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ (1 << bit)
        try {
          expect(decodeCheckpoint(flipped)).toEqual(original)
        } catch (error) {
          expect(error).toEqual(refused)
        }
        expect(() => decodeCheckpoint(bytes.subarray(0, cut % bytes.length))).toThrow(refused)
      }),
      { numRuns: scaled(100) },
    )
  })

  it.each<[string, Record<string, string>, RegExp]>([
    ['of another program', { format: 'pt' }, /no checkpoint of evsys/],
    ['of a newer version', { format: 'evsys-checkpoint', version: '2' }, /version 2, this evsys reads version 1/],
    ['without a digest', { format: 'evsys-checkpoint', version: '1', base_model: 'm' }, /digest does not match/],
  ])('is refused %s (ENG-10)', (_what, metadata, message) => {
    expect(() => decodeCheckpoint(encodeSafetensors(new Map(), metadata))).toThrow(message)
  })
})
