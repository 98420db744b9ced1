// Weights as bytes: a magic word, a version, a JSON header, float64 values, and a digest over all of it. A file of another
// program, a newer version, a cut or flipped one is refused by what is wrong with it.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { refused } from '../refused.ts'

const magic = 'evsysmck'
const version = 1
const digestBytes = 32
const prefixBytes = magic.length + 8

const Header = z.strictObject({
  base_model: z.string(),
  vocab_size: z.int().min(1).max(1_000_000),
  rank: z.int().min(1).optional(),
  adam_step: z.int().min(0).optional(),
  tensors: z.array(z.strictObject({ name: z.string(), length: z.int().min(0) })),
})
type Header = z.infer<typeof Header>

export type Tensors = Readonly<Record<string, Float64Array>>
export type Checkpoint = Omit<Header, 'tensors'> & { readonly tensors: Tensors }

/** A checkpoint as bytes. Equal checkpoints give equal bytes. */
export function encodeCheckpoint({ tensors, ...rest }: Checkpoint): Uint8Array {
  const entries = Object.entries(tensors)
  const header: Header = { ...rest, tensors: entries.map(([name, { length }]) => ({ name, length })) }
  const text = Buffer.from(JSON.stringify(header), 'utf8')
  const valueCount = entries.reduce((sum, [, values]) => sum + values.length, 0)
  const bytes = Buffer.alloc(prefixBytes + text.length + valueCount * 8 + digestBytes)
  bytes.write(magic, 0, 'latin1')
  bytes.writeUInt32LE(version, magic.length)
  bytes.writeUInt32LE(text.length, magic.length + 4)
  text.copy(bytes, prefixBytes)
  let at = prefixBytes + text.length
  for (const [, values] of entries) for (const value of values) at = bytes.writeDoubleLE(value, at)
  createHash('sha256').update(bytes.subarray(0, at)).digest().copy(bytes, at)
  return bytes
}

/** The checkpoint in bytes that may hold anything. */
export function decodeCheckpoint(source: Uint8Array): Checkpoint {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.length)
  if (bytes.length < prefixBytes + digestBytes || bytes.toString('latin1', 0, magic.length) !== magic) {
    throw bad('these bytes are no checkpoint of a mock model')
  }
  const found = bytes.readUInt32LE(magic.length)
  if (found !== version) {
    throw refused(`the checkpoint has version ${found}, this evsys reads version ${version}`, 'update evsys.')
  }
  const end = bytes.length - digestBytes
  const digest = createHash('sha256').update(bytes.subarray(0, end)).digest()
  if (!digest.equals(bytes.subarray(end))) throw bad('the checkpoint is damaged: its digest does not match')
  const headerEnd = prefixBytes + bytes.readUInt32LE(magic.length + 4)
  if (headerEnd > end) throw bad('the checkpoint’s header is cut off')
  const { tensors, ...header } = parseHeader(bytes.toString('utf8', prefixBytes, headerEnd))
  if (tensors.reduce((sum, { length }) => sum + length * 8, headerEnd) !== end) {
    throw bad('the checkpoint’s header does not describe its values')
  }
  let at = headerEnd
  const read = () => {
    at += 8
    return bytes.readDoubleLE(at - 8)
  }
  return {
    ...header,
    tensors: Object.fromEntries(tensors.map(({ name, length }) => [name, Float64Array.from({ length }, read)])),
  }
}

function parseHeader(text: string): Header {
  try {
    return Header.parse(JSON.parse(text))
  } catch {
    throw bad('the checkpoint’s header cannot be read')
  }
}

function bad(message: string) {
  return refused(message, 'use a checkpoint that the mock backend saved, or save it again.')
}
