import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { decodeFloats, encodeFloats, type FloatType, floatBytes, floatTypes } from './float-codec.ts'
import {
  decodeSafetensors,
  encodeSafetensors,
  type NamedTensor,
  openSafetensors,
  writeSafetensors,
} from './safetensors-file.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal

const tensor: fc.Arbitrary<NamedTensor> = fc
  .record({ dtype: fc.constantFrom(...floatTypes), shape: fc.array(fc.nat(4), { maxLength: 3 }) })
  .chain(({ dtype, shape }) => {
    const length = shape.reduce((product, axis) => product * axis, 1)
    const bytes = fc.uint8Array({ minLength: length * floatBytes[dtype], maxLength: length * floatBytes[dtype] })
    return bytes.map((each) => {
      const data = new Float64Array(length)
      decodeFloats(dtype, each, data)
      return { dtype, shape, data: data.map((value) => (Number.isNaN(value) ? 1 : value)) }
    })
  })
const name = fc.oneof(fc.constantFrom('a', 'model.layers.0.weight', '__proto__', 'ü"\\'), fc.string({ minLength: 1 }))
const tensors = fc
  .uniqueArray(fc.tuple(name, tensor), { selector: ([key]) => key, maxLength: 5 })
  .map((entries) => new Map(entries.filter(([key]) => key !== '__metadata__')))

/** A file with any header, also one that no writer makes. */
function fileOf(header: unknown, data = new Uint8Array()): Buffer {
  const json = Buffer.isBuffer(header)
    ? header
    : Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  return Buffer.concat([length, json, data])
}
const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'MODEL_INVALID', message: expect.stringMatching(message) })
const f32 = (shape: number[], begin: number, end: number) => ({ dtype: 'F32', shape, data_offsets: [begin, end] })

describe('safetensors', () => {
  it('round-trip in every type, in memory and through a file, tensor by tensor (ENG-1)', async () => {
    const path = join(folder(), 'x.safetensors')
    await fc.assert(
      fc.asyncProperty(tensors, async (original) => {
        const bytes = encodeSafetensors(original, { format: 'pt', b: 'ü' })
        const decoded = decodeSafetensors(bytes, 'x')
        expect([...decoded.tensors].sort()).toEqual([...original].sort())
        expect(Object.fromEntries(decoded.metadata)).toEqual({ format: 'pt', b: 'ü' })
        await writeSafetensors(path, original)
        await using file = await openSafetensors(path)
        expect([...file.tensors.keys()].sort()).toEqual([...original.keys()].sort())
        for (const [key, { data }] of original) expect(await file.read(key, signal)).toEqual(data)
      }),
      { numRuns: scaled(20) },
    )
  })

  it('are written the same whatever the order of the tensors (ENG-1)', () => {
    const a: NamedTensor = { dtype: 'F32', shape: [2], data: Float64Array.from([1, 2]) }
    const b: NamedTensor = { dtype: 'BF16', shape: [1], data: Float64Array.from([3]) }
    expect(
      encodeSafetensors(
        new Map([
          ['b', b],
          ['a', a],
        ]),
      ),
    ).toEqual(
      encodeSafetensors(
        new Map([
          ['a', a],
          ['b', b],
        ]),
      ),
    )
  })

  const four = new Uint8Array(4)
  it.each<[string, Buffer, RegExp]>([
    ['nothing', Buffer.alloc(0), /0 bytes are too few/],
    ['half a length', Buffer.alloc(7), /7 bytes are too few/],
    ['a length beyond reason', Buffer.alloc(8, 0xff), /header would have 18446744073709551615 bytes/],
    ['a header beyond the file', Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 123]), /ends inside its header/],
    ['no JSON', fileOf('{"a":'), /no JSON/],
    ['no text', fileOf(Buffer.from([0x7b, 0xff, 0x7d])), /no JSON/],
    ['a list', fileOf([]), /no JSON object/],
    ['a space before the header', fileOf(' {}'), /no JSON object/],
    [
      'a name twice',
      fileOf(
        '{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}',
        four,
      ),
      /names "a" twice/,
    ],
    ['a name twice, once escaped', fileOf('{"a":1,"\\u0061":1}'), /names "a" twice/],
    [
      'a shape twice',
      fileOf('{"a":{"dtype":"F32","shape":[],"shape":[],"data_offsets":[0,4]}}', four),
      /names "shape" twice/,
    ],
    ['no shape', fileOf({ a: { dtype: 'F32', data_offsets: [0, 4] } }, four), /does not describe the tensor "a"/],
    ['a negative axis', fileOf({ a: f32([-1], 0, 4) }, four), /does not describe/],
    ['half an axis', fileOf({ a: f32([0.5], 0, 4) }, four), /does not describe/],
    ['an unknown type', fileOf({ a: { dtype: 'F31', shape: [1], data_offsets: [0, 4] } }, four), /unknown type F31/],
    ['a size that does not follow', fileOf({ a: f32([2], 0, 4) }, four), /has 4 bytes for F32 \[2\]/],
    ['a size beyond all numbers', fileOf({ a: f32([2 ** 40, 2 ** 40, 2 ** 40], 0, 4) }, four), /has 4 bytes/],
    ['offsets that go back', fileOf({ a: f32([0], 4, 0) }, four), /has -4 bytes/],
    ['an overlap', fileOf({ a: f32([1], 0, 4), b: f32([1], 0, 4) }, four), /overlaps/],
    ['a gap', fileOf({ a: f32([0], 4, 4) }, four), /4 bytes before the tensor "a" belong to none/],
    ['bytes that are missing', fileOf({ a: f32([2], 0, 8) }, four), /4 bytes of its tensors are missing/],
    ['bytes too many', fileOf({}, four), /4 bytes at its end belong to no tensor/],
    ['metadata that is no text', fileOf({ __metadata__: { a: 1 } }), /metadata is not a table of texts/],
  ])('are refused for %s (ENG-1)', async (_what, bytes, message) => {
    expect(() => decodeSafetensors(bytes, 'x')).toThrow(refusal(message))
    const path = join(folder(), 'x.safetensors')
    writeFileSync(path, bytes)
    await expect(openSafetensors(path)).rejects.toThrow(refusal(message))
  })

  it('of integers open, but are not read as numbers of a model (ENG-1)', async () => {
    const bytes = fileOf({ a: { dtype: 'I32', shape: [1], data_offsets: [0, 4] } }, four)
    expect(() => decodeSafetensors(bytes, 'x')).toThrow('type I32, which is no float')
    const path = join(folder(), 'x.safetensors')
    writeFileSync(path, bytes)
    await using file = await openSafetensors(path)
    await expect(file.read('a', signal)).rejects.toThrow('type I32')
    await expect(file.read('b', signal)).rejects.toThrow('no tensor "b"')
  })

  it('that shrink while they are read, or are no file at all, are errors (ENG-1)', async () => {
    const path = join(folder(), 'x.safetensors')
    await writeSafetensors(path, new Map([['a', { dtype: 'F64', shape: [100], data: new Float64Array(100) }]]))
    await using file = await openSafetensors(path)
    writeFileSync(path, 'x')
    await expect(file.read('a', signal)).rejects.toThrow('became shorter')
    await expect(openSafetensors(folder())).rejects.toMatchObject({ code: 'FILE_FAILED' })
    await expect(openSafetensors(join(folder(), 'gone'))).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })

  it('damaged anywhere are read in full or refused, never a crash (ENG-1)', () => {
    const whole = encodeSafetensors(
      new Map([
        ['a', { dtype: 'F32', shape: [2, 3], data: new Float64Array(6) }],
        ['b', { dtype: 'BF16', shape: [4], data: new Float64Array(4) }],
      ]),
      { format: 'pt' },
    )
    const damage = fc.oneof(
      fc.nat(whole.length).map((cut) => whole.subarray(0, cut)),
      fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => whole.with(at, byte)),
      fc
        .tuple(fc.nat(whole.length), fc.uint8Array({ maxLength: 9 }))
        .map(([at, more]) => Buffer.concat([whole.subarray(0, at), more, whole.subarray(at)])),
      fc.uint8Array({ maxLength: 64 }),
      fc.json().map((text) => fileOf(text, four)),
    )
    fc.assert(
      fc.property(damage, (bytes) => {
        try {
          for (const { shape, data } of decodeSafetensors(bytes, 'x').tensors.values()) {
            expect(data).toHaveLength(shape.reduce((product, axis) => product * axis, 1))
          }
        } catch (error) {
          expect(error).toMatchObject({ code: 'MODEL_INVALID' })
        }
      }),
      { numRuns: scaled(150) },
    )
  })
})

describe('numbers in files', () => {
  const decoded = (dtype: FloatType, ...bytes: number[]) => {
    const value = new Float64Array(1)
    decodeFloats(dtype, Uint8Array.from(bytes), value)
    return value[0]
  }
  const encoded = (dtype: FloatType, value: number) => {
    const bytes = new Uint8Array(floatBytes[dtype])
    encodeFloats(dtype, [value], bytes)
    return [...bytes].reverse().reduce((text, byte) => text + byte.toString(16).padStart(2, '0'), '')
  }

  it.each<[FloatType, number[], number]>([
    ['F16', [0x00, 0x3c], 1],
    ['F16', [0xff, 0x7b], 65504],
    ['F16', [0x01, 0x80], -(2 ** -24)],
    ['F16', [0x00, 0x7c], Number.POSITIVE_INFINITY],
    ['F16', [0x00, 0x7e], Number.NaN],
    ['BF16', [0x80, 0x3f], 1],
    ['BF16', [0x49, 0xc0], -3.140625],
    ['BF16', [0x01, 0x00], 2 ** -133],
    ['F32', [0x00, 0x00, 0x80, 0x3f], 1],
    ['F64', [0, 0, 0, 0, 0, 0, 0xf0, 0x3f], 1],
  ])('of %s: %j is %d (ENG-1)', (dtype, bytes, value) => {
    expect(decoded(dtype, ...bytes)).toBe(value)
  })

  it.each<[FloatType, number, string]>([
    ['F16', 1 + 2 ** -11, '3c00'],
    ['F16', 1 + 3 * 2 ** -11, '3c02'],
    ['F16', 65519, '7bff'],
    ['F16', 65520, '7c00'],
    ['F16', -(2 ** -25), '8000'],
    ['F16', 2 ** -24 * 1.5, '0002'],
    ['F16', 2 ** -14 - 2 ** -26, '0400'],
    ['F16', Number.NaN, '7e00'],
    ['BF16', 1 + 2 ** -8, '3f80'],
    // By way of float32 this would become a tie, and go down.
    ['BF16', 1 + 2 ** -8 + 2 ** -40, '3f81'],
    ['BF16', 3.4e38, '7f80'],
    ['BF16', -0, '8000'],
    ['F32', 0.1, '3dcccccd'],
  ])('are rounded to the nearest %s, ties to even: %d is %s (ENG-1)', (dtype, value, bits) => {
    expect(encoded(dtype, value)).toBe(bits)
  })

  it('come back from every pattern of 16 bits (ENG-1)', () => {
    for (const dtype of ['F16', 'BF16'] as const) {
      for (let bits = 0; bits < 65536; bits++) {
        const value = decoded(dtype, bits & 255, bits >> 8) ?? 0
        if (!Number.isNaN(value) && encoded(dtype, value) !== bits.toString(16).padStart(4, '0')) {
          expect.fail(`${dtype} ${bits.toString(16)} becomes ${encoded(dtype, value)}`)
        }
      }
    }
  })
})
