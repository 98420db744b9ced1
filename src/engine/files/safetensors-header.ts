// The header of a safetensors file: 8 bytes of length, JSON that names every tensor with its type, shape and place, then the
// values. Whatever a reader could be misled by is refused: places outside the file, overlaps and gaps, sizes that do not follow
// from the shape, types nobody knows, a name that comes twice.
import * as z from 'zod'
import { invalidModel } from './invalid-model.ts'
import { jsonPlaces } from './json-places.ts'

export interface TensorInfo {
  readonly dtype: string
  readonly shape: readonly number[]
  /** From the start of the file. */
  readonly begin: number
  readonly end: number
}

export interface SafetensorsHeader {
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly metadata: ReadonlyMap<string, string>
}

export const lengthBytes = 8

/** As in the original implementation. */
const largestHeader = 100_000_000

/** Size in bytes of the JSON that follows the first 8 bytes. */
export function headerBytes(prefix: Uint8Array, fileBytes: number, file: string): number {
  if (fileBytes < lengthBytes || prefix.byteLength < lengthBytes) {
    throw invalidModel(file, `${fileBytes} bytes are too few for a safetensors file`)
  }
  const length = new DataView(prefix.buffer, prefix.byteOffset, lengthBytes).getBigUint64(0, true)
  if (length > largestHeader)
    throw invalidModel(file, `its header would have ${length} bytes; is it a safetensors file?`)
  if (lengthBytes + Number(length) > fileBytes) throw invalidModel(file, 'the file ends inside its header')
  return Number(length)
}

/** The header in its JSON bytes. */
export function parseHeader(json: Uint8Array, fileBytes: number, file: string): SafetensorsHeader {
  const { __metadata__: metadata, ...entries } = parseJson(json, file)
  const dataStart = lengthBytes + json.byteLength
  const tensors = new Map<string, TensorInfo>()
  for (const [name, entry] of Object.entries(entries)) tensors.set(name, tensorInfo(name, entry, dataStart, file))
  checkPlaces(tensors, dataStart, fileBytes, file)
  return { tensors, metadata: parseMetadata(metadata, file) }
}

function parseJson(json: Uint8Array, file: string): Readonly<Record<string, unknown>> {
  let text: string
  let value: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(json)
    value = JSON.parse(text)
  } catch {
    throw invalidModel(file, 'its header is no JSON')
  }
  const { duplicate } = jsonPlaces(text)
  if (duplicate !== undefined) throw invalidModel(file, `its header names "${duplicate.key}" twice`)
  if (!text.startsWith('{') || typeof value !== 'object' || value === null) {
    throw invalidModel(file, 'its header is no JSON object')
  }
  return Object.fromEntries(Object.entries(value))
}

const Entry = z.strictObject({
  dtype: z.string(),
  shape: z.array(z.int().min(0)).max(16),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
})

const typeBytes: ReadonlyMap<string, number> = new Map([
  ...['BOOL', 'U8', 'I8', 'F8_E4M3', 'F8_E5M2'].map((type) => [type, 1] as const),
  ...['U16', 'I16', 'F16', 'BF16'].map((type) => [type, 2] as const),
  ...['U32', 'I32', 'F32'].map((type) => [type, 4] as const),
  ...['U64', 'I64', 'F64'].map((type) => [type, 8] as const),
])

function tensorInfo(name: string, value: unknown, dataStart: number, file: string): TensorInfo {
  const parsed = Entry.safeParse(value)
  if (!parsed.success) throw invalidModel(file, `its header does not describe the tensor "${name}"`)
  const { dtype, shape, data_offsets } = parsed.data
  const size = typeBytes.get(dtype)
  if (size === undefined) throw invalidModel(file, `the tensor "${name}" has the unknown type ${dtype}`)
  const [begin, end] = data_offsets
  // Sizes above 2^53 round, but never to the length of a file.
  const bytes = shape.reduce((product, axis) => product * axis, size)
  if (end - begin !== bytes) {
    throw invalidModel(file, `the tensor "${name}" has ${end - begin} bytes for ${dtype} [${shape.join(', ')}]`)
  }
  return { dtype, shape, begin: dataStart + begin, end: dataStart + end }
}

function checkPlaces(tensors: ReadonlyMap<string, TensorInfo>, dataStart: number, fileBytes: number, file: string) {
  let at = dataStart
  for (const [name, { begin, end }] of [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)) {
    if (begin < at) throw invalidModel(file, `the tensor "${name}" overlaps another one`)
    if (begin > at) throw invalidModel(file, `${begin - at} bytes before the tensor "${name}" belong to none`)
    at = end
  }
  if (at > fileBytes) throw invalidModel(file, `the file is cut: ${at - fileBytes} bytes of its tensors are missing`)
  if (at < fileBytes) throw invalidModel(file, `${fileBytes - at} bytes at its end belong to no tensor`)
}

function parseMetadata(value: unknown, file: string): ReadonlyMap<string, string> {
  if (value === undefined) return new Map()
  const parsed = z.record(z.string(), z.string()).safeParse(value)
  if (!parsed.success) throw invalidModel(file, 'its metadata is not a table of texts')
  return new Map(Object.entries(parsed.data))
}
