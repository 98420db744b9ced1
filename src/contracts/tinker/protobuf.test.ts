import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import {
  type Datum,
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  decodeSampleResponse,
  denseTensor,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  encodeSampleResponse,
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  type SampleResponse,
  sampleFromJson,
  sampleToJson,
  type TensorData,
  WireError,
} from './index.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

// Made with the official generated code.
const golden = {
  request:
    '0a09733a747261696e3a3010011a440a100a0e0a0c01000000020000000300000012300a0d7461726765745f746f6b656e73121f0a180200000000000000030000000000000004000000000000001802220103220d63726f73735f656e74726f7079',
  output:
    '0a0b41727261795265636f7264123a12360a086c6f6770726f6273122a0a0c000000bf000080bf000080be1218000000000000000008000000000000000c00000000000000180118021a130a086c6f73733a73756d11000000000000f83f',
  sample: '0a160801120805000000060000001a08000000bf0000c0bf12080000c07f000000c0',
}

const request: ForwardBackwardRequest = {
  model_id: 's:train:0',
  seq_id: 1,
  forward_backward_input: {
    loss_fn: 'cross_entropy',
    data: [
      {
        model_input: { chunks: [{ type: 'encoded_text', tokens: Int32Array.of(1, 2, 3) }] },
        loss_fn_inputs: { target_tokens: { data: Int32Array.of(2, 3, 4), dtype: 'int64', shape: [3] } },
      },
    ],
  },
  forward_only: false,
}

const output: ForwardBackwardOutput = {
  loss_fn_output_type: 'ArrayRecord',
  loss_fn_outputs: [
    { logprobs: { data: Float32Array.of(-0.5, -1), dtype: 'float32', shape: [2] } },
    { logprobs: { data: Float32Array.of(-0.25), dtype: 'float32', shape: [1] } },
  ],
  metrics: { 'loss:sum': 1.5 },
}

const sample: SampleResponse = {
  sequences: [{ stop_reason: 'length', tokens: Int32Array.of(5, 6), logprobs: Float32Array.of(-0.5, -1.5) }],
  prompt_logprobs: Float32Array.of(Number.NaN, -2),
  prompt_cache_hit_tokens: 0,
}

describe('protobuf of the training protocol', () => {
  it('encodes and decodes the golden vectors byte for byte (TNK-1) (conformance 26)', () => {
    expect(hex(encodeForwardBackwardRequest(request))).toBe(golden.request)
    expect(decodeForwardBackwardRequest(bytes(golden.request))).toEqual(request)
    expect(hex(encodeForwardBackwardOutput(output))).toBe(golden.output)
    expect(decodeForwardBackwardOutput(bytes(golden.output))).toEqual(output)
    expect(hex(encodeSampleResponse(sample))).toBe(golden.sample)
    expect(decodeSampleResponse(bytes(golden.sample))).toEqual(sample)
  })

  it('carries every request through bytes and back (TNK-1)', () => {
    fc.assert(
      fc.property(anyRequest, (any) => {
        expect(decodeForwardBackwardRequest(encodeForwardBackwardRequest(any))).toEqual(any)
      }),
      { numRuns: scaled(100) },
    )
  })

  it('carries every output through bytes and back, ragged ones too (TNK-1)', () => {
    fc.assert(
      fc.property(anyOutput, (any) => {
        expect(decodeForwardBackwardOutput(encodeForwardBackwardOutput(any))).toEqual(any)
      }),
      { numRuns: scaled(100) },
    )
  })

  it('carries samples through bytes and through JSON (TNK-1)', () => {
    fc.assert(
      fc.property(anySample, (any) => {
        expect(decodeSampleResponse(encodeSampleResponse(any))).toEqual(any)
        expect(sampleFromJson(JSON.parse(JSON.stringify(sampleToJson(any))))).toEqual(any)
      }),
      { numRuns: scaled(100) },
    )
  })

  it('prefers the newer map of settings and knows text values (TNK-1)', () => {
    const config = { clip_low_threshold: 0.5, mode: 'soft' }
    const input = { ...request.forward_backward_input, loss_fn_config: config }
    const encoded = encodeForwardBackwardRequest({ ...request, forward_backward_input: input })
    expect(decodeForwardBackwardRequest(encoded).forward_backward_input.loss_fn_config).toEqual(config)
    const legacy = bytes(`${golden.request}2a0f0a046265746111000000000000e03f`)
    expect(decodeForwardBackwardRequest(legacy).forward_backward_input.loss_fn_config).toEqual({ beta: 0.5 })
  })

  it('skips fields that are not known yet (TNK-1)', () => {
    const unknown = '7a0568656c6c6f' + '8801ac02' + '95010000803f' + '99010000000000000000'
    expect(decodeForwardBackwardRequest(bytes(golden.request + unknown))).toEqual(request)
  })

  it('widens bfloat16 and int32 (TNK-1)', () => {
    const column = (data: string, dtype: string) =>
      `0a${(data.length / 2).toString(16).padStart(2, '0')}${data}1210${'00'.repeat(8)}${(data.length / 2).toString(16).padStart(2, '0')}${'00'.repeat(7)}18${dtype}`
    const record = (batch: string) => {
      const entry = `0a017812${size(batch)}${batch}`
      const fields = `12${size(entry)}${entry}`
      return `12${size(fields)}${fields}`
    }
    const values = (hexText: string) => decodeForwardBackwardOutput(bytes(hexText)).loss_fn_outputs[0]?.x
    expect(values(record(column('803f0040', '04')))).toMatchObject({ dtype: 'float32', data: Float32Array.of(1, 2) })
    expect(values(record(column('05000000feffffff', '03')))).toMatchObject({ data: Int32Array.of(5, -2) })
  })

  it('answers hostile bytes with a typed error, never with a hang or a large allocation (TNK-2)', () => {
    const vectors = Object.values(golden).map(bytes)
    const mutated = fc.tuple(
      fc.constantFrom(...vectors),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
      fc.nat(),
    )
    const random = fc.uint8Array({ maxLength: 64 })
    const hostile = fc.oneof(
      random,
      mutated.map(([vector, edits, end]) => {
        const copy = vector.slice(0, end % 4 === 0 ? end % vector.length : vector.length)
        for (const [at, value] of edits) if (copy.length > 0) copy[at % copy.length] = value
        return copy
      }),
    )
    fc.assert(
      fc.property(hostile, (data) => {
        for (const decode of [decodeForwardBackwardRequest, decodeForwardBackwardOutput, decodeSampleResponse]) {
          try {
            const decoded = decode(data)
            if ('forward_backward_input' in decoded) densifyAll(decoded.forward_backward_input.data)
          } catch (error) {
            expect(error).toBeInstanceOf(WireError)
          }
        }
      }),
      { numRuns: scaled(500) },
    )
  })

  it.each([
    ['a length beyond the end', '0aff'],
    ['a length of 2^63', '0affffffffffffffff7f'],
    ['an integer of eleven bytes', '10ffffffffffffffffffffff01'],
    ['a group', '0b'],
    ['field number 0', '0001'],
    ['text that is not UTF-8', '0a02c328'],
    ['a known field of another wire type', '0a09733a747261696e3a30120101'],
    ['a tensor of no type', '1a0d120b0a0178120608000a020102'],
  ])('refuses %s (TNK-2)', (_name, text) => {
    expect(() => decodeForwardBackwardRequest(bytes(text))).toThrow(WireError)
  })

  it('refuses datums that are announced and not there (TNK-2)', () => {
    expect(() => decodeForwardBackwardOutput(bytes('120818ffffffffffff7f'))).toThrow(/without fields/)
    const many = '120418ffff03'.repeat(3)
    expect(() => decodeForwardBackwardOutput(bytes(many))).toThrow(WireError)
    expect(decodeForwardBackwardOutput(bytes('12021802')).loss_fn_outputs).toEqual([{}, {}])
  })

  it('refuses sparse tensors whose parts do not fit together (TNK-2)', () => {
    const good = {
      data: [1, 2],
      dtype: 'float32' as const,
      shape: [2, 3],
      sparse_crow_indices: [0, 1, 2],
      sparse_col_indices: [2, 0],
    }
    expect(denseTensor(good)).toEqual({ data: Float32Array.of(0, 0, 1, 2, 0, 0), shape: [2, 3] })
    const bad: TensorData[] = [
      { ...good, shape: [2] },
      { ...good, shape: [2, 1e12] },
      { ...good, sparse_crow_indices: [0, 1] },
      { ...good, sparse_crow_indices: [0, 3, 2] },
      { ...good, sparse_crow_indices: [1, 1, 2] },
      { ...good, sparse_col_indices: [2, 3] },
      { ...good, sparse_col_indices: [0.5, 0] },
      { ...good, sparse_col_indices: null },
      { data: [1, 2], dtype: 'float32', shape: [3] },
    ]
    for (const tensor of bad) expect(() => denseTensor(tensor)).toThrow(WireError)
  })
})

function size(text: string): string {
  return (text.length / 2).toString(16).padStart(2, '0')
}

function densifyAll(data: readonly Datum[]): void {
  for (const datum of data) for (const tensor of Object.values(datum.loss_fn_inputs)) denseTensor(tensor)
}

const name = fc.string({ minLength: 1, maxLength: 6, unit: 'binary' }).filter((text) => text !== '__proto__')
const ints = (length: number) =>
  fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { minLength: length, maxLength: length })
const floats = (length: number) =>
  fc
    .array(fc.float({ noNaN: true }), { minLength: length, maxLength: length })
    .map((values) => Float32Array.from(values))

const anyTensor: fc.Arbitrary<TensorData> = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 3 }), fc.boolean())
  .chain(([rows, columns, whole]): fc.Arbitrary<TensorData> => {
    const shape = [rows, columns]
    return whole
      ? ints(rows * columns).map((data) => ({ data: Int32Array.from(data), dtype: 'int64' as const, shape }))
      : floats(rows * columns).map((data) => ({ data, dtype: 'float32' as const, shape }))
  })

const anySparse: fc.Arbitrary<TensorData> = fc.integer({ min: 0, max: 3 }).chain((rows) =>
  floats(rows).map((data) => ({
    data,
    dtype: 'float32' as const,
    shape: [rows, 5],
    sparse_crow_indices: Int32Array.from({ length: rows + 1 }, (_, row) => row),
    sparse_col_indices: new Int32Array(rows).fill(4),
  })),
)

const anyRequest: fc.Arbitrary<ForwardBackwardRequest> = fc
  .record({
    model_id: name,
    seq_id: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    loss_fn: name,
    config: fc.dictionary(name, fc.oneof(fc.double({ noNaN: true }), fc.string()), {
      minKeys: 1,
      noNullPrototype: true,
    }),
    data: fc.array(
      fc.tuple(
        fc.array(ints(3), { maxLength: 2 }),
        fc.dictionary(name, fc.oneof(anyTensor, anySparse), { noNullPrototype: true }),
      ),
      { maxLength: 3 },
    ),
    forward_only: fc.boolean(),
  })
  .map(({ model_id, seq_id, loss_fn, config, data, forward_only }) => ({
    model_id,
    seq_id,
    forward_backward_input: {
      loss_fn,
      loss_fn_config: config,
      data: data.map(([chunks, loss_fn_inputs]) => ({
        model_input: {
          chunks: chunks.map((tokens) => ({ type: 'encoded_text' as const, tokens: Int32Array.from(tokens) })),
        },
        loss_fn_inputs,
      })),
    },
    forward_only,
  }))

const anyOutput: fc.Arbitrary<ForwardBackwardOutput> = fc.record({
  loss_fn_output_type: fc.constant('ArrayRecord'),
  loss_fn_outputs: fc.array(
    anyTensor.map((logprobs): Record<string, TensorData> => ({ logprobs })),
    { maxLength: 5 },
  ),
  metrics: fc.dictionary(name, fc.double({ noNaN: true }), { noNullPrototype: true }),
})

const anySample: fc.Arbitrary<SampleResponse> = fc
  .tuple(fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean())), fc.integer({ min: 1, max: 3 }), fc.nat(9))
  .map(([sequences, k, cached]) => ({
    sequences: sequences.map(([length, stopped]) => ({
      stop_reason: stopped ? ('stop' as const) : ('length' as const),
      tokens: Int32Array.from({ length }, (_, at) => at * 7),
      logprobs: Float32Array.from({ length }, (_, at) => -(at + 1) / 4),
    })),
    prompt_logprobs: Float32Array.of(Number.NaN, -2),
    topk_prompt_logprobs: {
      k,
      length: 2,
      tokens: Int32Array.from({ length: 2 * k }, (_, at) => (at < k ? 0 : at)),
      logprobs: Float32Array.from({ length: 2 * k }, (_, at) => (at < k ? -99_999 : -at)),
    },
    prompt_cache_hit_tokens: cached,
  }))
