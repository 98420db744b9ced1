// Tensors in a safetensors file, read one by one: a model of many gigabytes opens in the time of its header.
import { type FileHandle, open, stat } from 'node:fs/promises'
import * as z from 'zod'
import { fileError, writeFileAtomic } from '../../kernel/index.ts'
import { decodeFloats, encodeFloats, type FloatType, floatBytes, isFloatType } from './float-codec.ts'
import { duplicateKey, invalidModel } from './json-places.ts'

export interface SafetensorsFile extends SafetensorsHeader, AsyncDisposable {
  /** The values of a floating-point tensor. */
  read(name: string, signal: AbortSignal): Promise<Float64Array>
  /** The bytes of a tensor, as they lie in the file, into memory of that size. */
  readInto(name: string, target: Uint8Array, signal: AbortSignal): Promise<void>
}

const pieceBytes = 1 << 22

/** Opens a safetensors file and checks its header. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const handle = await openRegular(path)
  try {
    const { size } = await handle.stat()
    const length = headerBytes(await readBytes(handle, 0, Math.min(lengthBytes, size), path), size, path)
    const header = parseHeader(await readBytes(handle, lengthBytes, length, path), size, path)
    return {
      ...header,
      read: (name, signal) => readTensor(handle, header, name, path, signal),
      readInto: (name, target, signal) => readRaw(handle, header, name, { path, target, signal }),
      [Symbol.asyncDispose]: () => handle.close(),
    }
  } catch (cause) {
    await handle.close()
    throw cause
  }
}

// A pipe would be waited for without end.
async function openRegular(path: string): Promise<FileHandle> {
  try {
    if (!(await stat(path)).isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    return await open(path, 'r')
  } catch (cause) {
    throw fileError('read', path, cause)
  }
}

async function readTensor(
  handle: FileHandle,
  { tensors }: SafetensorsHeader,
  name: string,
  path: string,
  signal: AbortSignal,
): Promise<Float64Array> {
  const info = tensors.get(name)
  if (info === undefined) throw invalidModel(path, `there is no tensor "${name}"`)
  const { dtype, begin, end } = info
  if (!isFloatType(dtype)) throw invalidModel(path, `the tensor "${name}" has the type ${dtype}, which is no float`)
  const values = new Float64Array((end - begin) / floatBytes[dtype])
  for (let at = begin; at < end; at += pieceBytes) {
    signal.throwIfAborted()
    const piece = await readBytes(handle, at, Math.min(pieceBytes, end - at), path)
    decodeFloats(dtype, piece, values, (at - begin) / floatBytes[dtype])
  }
  return values
}

async function readRaw(
  handle: FileHandle,
  { tensors }: SafetensorsHeader,
  name: string,
  { path, target, signal }: { path: string; target: Uint8Array; signal: AbortSignal },
): Promise<void> {
  const { begin, end } = tensors.get(name) ?? { begin: 0, end: 0 }
  if (end - begin !== target.length || end === 0)
    throw invalidModel(path, `the tensor "${name}" has ${end - begin} bytes`)
  for (let at = begin; at < end; at += pieceBytes) {
    signal.throwIfAborted()
    await fill(handle, at, target.subarray(at - begin, at - begin + pieceBytes), path)
  }
}

async function readBytes(handle: FileHandle, position: number, length: number, path: string): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  await fill(handle, position, bytes, path)
  return bytes
}

async function fill(handle: FileHandle, position: number, bytes: Uint8Array, path: string): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const read = handle.read(bytes, done, bytes.length - done, position + done).catch((cause: unknown) => {
      throw fileError('read', path, cause)
    })
    const { bytesRead } = await read
    if (bytesRead === 0) throw invalidModel(path, 'the file became shorter while it was read')
    done += bytesRead
  }
}

// The header of a safetensors file: 8 bytes of length, JSON that names every tensor with its type, shape and place, then the
// values. Whatever a reader could be misled by is refused: places outside the file, overlaps and gaps, sizes that do not follow
// from the shape, unknown types, a name that comes twice.
export interface TensorInfo {
  readonly dtype: string
  readonly shape: readonly number[]
  /** From the start of the file. */
  readonly begin: number
  readonly end: number
}

interface SafetensorsHeader {
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly metadata: ReadonlyMap<string, string>
}

const lengthBytes = 8

/** A model of ten thousand tensors has a hundredth of it. */
const largestHeader = 32_000_000
const mostTensors = 100_000

/** Size in bytes of the JSON that follows the first 8 bytes. */
function headerBytes(prefix: Uint8Array, fileBytes: number, file: string): number {
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
function parseHeader(json: Uint8Array, fileBytes: number, file: string): SafetensorsHeader {
  const { __metadata__: metadata, ...entries } = parseJson(json, file)
  const dataStart = lengthBytes + json.byteLength
  const count = Object.keys(entries).length
  if (count > mostTensors) throw invalidModel(file, `its header names ${count} tensors, more than ${mostTensors}`)
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
  const duplicate = duplicateKey(text)
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

// Safetensors in memory: what is written to a file, and checkpoints on their way. Equal tensors give equal bytes.
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
