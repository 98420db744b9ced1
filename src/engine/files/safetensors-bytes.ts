// Safetensors in memory: what is written to a file, and checkpoints on their way. Equal tensors give equal bytes.
import { writeFileAtomic } from '../../kernel/index.ts'
import { decodeFloats, encodeFloats, type FloatType, floatBytes, isFloatType } from './float-codec.ts'
import { invalidModel } from './invalid-model.ts'
import { headerBytes, lengthBytes, parseHeader } from './safetensors-header.ts'

export interface NamedTensor {
  readonly shape: readonly number[]
  readonly data: Float64Array
  /** How it is written. */
  readonly dtype: FloatType
}

export type NamedTensors = ReadonlyMap<string, NamedTensor>

/** Tensors as the bytes of a safetensors file, in the order of their names. */
export function encodeSafetensors(tensors: NamedTensors, metadata: Readonly<Record<string, string>> = {}): Uint8Array {
  const sorted = [...tensors].sort(([a], [b]) => (a < b ? -1 : 1))
  let at = 0
  const entries = sorted.map(([name, { dtype, shape, data }]) => {
    const begin = at
    at += data.length * floatBytes[dtype]
    return [name, { dtype, shape, data_offsets: [begin, at] }] as const
  })
  const texts = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))
  const json = Buffer.from(
    JSON.stringify(Object.fromEntries([['__metadata__', Object.fromEntries(texts)], ...entries])),
  )
  const padded = Math.ceil(json.length / 8) * 8 // so that values lie on their own boundaries
  const bytes = Buffer.alloc(lengthBytes + padded + at, ' ')
  bytes.writeBigUInt64LE(BigInt(padded), 0)
  json.copy(bytes, lengthBytes)
  let start = lengthBytes + padded
  for (const [, { dtype, data }] of sorted) {
    const end = start + data.length * floatBytes[dtype]
    encodeFloats(dtype, data, bytes.subarray(start, end))
    start = end
  }
  return bytes
}

/** The tensors and metadata in bytes that may hold anything; `source` is what an error calls them. */
export function decodeSafetensors(
  bytes: Uint8Array,
  source: string,
): { tensors: NamedTensors; metadata: ReadonlyMap<string, string> } {
  const length = headerBytes(bytes.subarray(0, lengthBytes), bytes.byteLength, source)
  const header = parseHeader(bytes.subarray(lengthBytes, lengthBytes + length), bytes.byteLength, source)
  const tensors = new Map<string, NamedTensor>()
  for (const [name, { dtype, shape, begin, end }] of header.tensors) {
    if (!isFloatType(dtype)) throw invalidModel(source, `the tensor "${name}" has the type ${dtype}, which is no float`)
    const data = new Float64Array((end - begin) / floatBytes[dtype])
    decodeFloats(dtype, bytes.subarray(begin, end), data)
    tensors.set(name, { dtype, shape, data })
  }
  return { tensors, metadata: header.metadata }
}

/** Replaces a file, in one step, by these tensors. */
export async function writeSafetensors(
  path: string,
  tensors: NamedTensors,
  metadata: Readonly<Record<string, string>> = { format: 'pt' }, // transformers refuses files without it
): Promise<void> {
  await writeFileAtomic(path, encodeSafetensors(tensors, metadata))
}
