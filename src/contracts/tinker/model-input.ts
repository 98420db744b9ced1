// What a model reads: chunks that are concatenated.
import * as z from 'zod'
import { type ProtobufReader, ProtobufWriter, WireError } from './protobuf.ts'
import { DType, NumberArray, packInt32, unpack } from './tensor-data.ts'

/** Bytes: base64 in JSON, as they are in protobuf. */
const Bytes = z.union([z.string(), z.custom<Uint8Array>((value) => value instanceof Uint8Array)])
const ImageFormat = z.enum(['png', 'jpeg'])

/** Part of a model's input. */
export const Chunk = z.discriminatedUnion('type', [
  z.object({ type: z.literal('encoded_text'), tokens: NumberArray }),
  z.object({ type: z.literal('image'), data: Bytes, format: ImageFormat, expected_tokens: z.int().nullish() }),
  z.object({
    type: z.literal('image_asset_pointer'),
    location: z.string(),
    format: ImageFormat,
    expected_tokens: z.int().nullish(),
  }),
  z.object({ type: z.literal('dmel'), dmel: Bytes }),
])
export type Chunk = z.infer<typeof Chunk>

/** The input of a model. Chunks without a `type` are text, as the oldest clients send them. */
export const ModelInput = z.object({
  chunks: z.array(z.preprocess(textByDefault, Chunk)),
})
export type ModelInput = z.infer<typeof ModelInput>

function textByDefault(chunk: unknown): unknown {
  const bare = typeof chunk === 'object' && chunk !== null && 'tokens' in chunk && !('type' in chunk)
  return bare ? { ...chunk, type: 'encoded_text' } : chunk
}

/** The tokens of an input that is text alone; anything else, and no token at all, is a `WireError`. */
export function tokensOf(input: ModelInput, at = 'model_input'): Int32Array {
  const parts = input.chunks.map((chunk, index) => {
    const place = `${at}.chunks[${index}]`
    if (chunk.type !== 'encoded_text') throw new WireError(place, `a chunk of type ${chunk.type} is not text`)
    return checkedTokens(chunk.tokens, place)
  })
  // A chunk may be empty: loops append an answer without its last token, and an answer may have one token.
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  if (size === 0) throw new WireError(at, 'it has no tokens')
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const whole = new Int32Array(size)
  let at0 = 0
  for (const part of parts) {
    whole.set(part, at0)
    at0 += part.length
  }
  return whole
}

function checkedTokens(tokens: NumberArray, at: string): Int32Array {
  const ids = tokens instanceof Int32Array ? tokens : Int32Array.from(tokens)
  for (let index = 0; index < ids.length; index++) {
    const token = tokens[index]
    if (token === undefined || token !== ids[index] || token < 0)
      throw new WireError(at, `tokens[${index}] is ${token}, which is no token id`)
  }
  return ids
}

/** The message `Chunk`. Pointers to images have no form in protobuf. */
export function writeChunk(chunk: Chunk, at: string): ProtobufWriter {
  const inner = new ProtobufWriter()
  switch (chunk.type) {
    case 'encoded_text':
      return new ProtobufWriter().message(1, inner.bytes(1, packInt32(chunk.tokens)))
    case 'image':
      inner.bytes(1, bytesOf(chunk.data)).string(2, chunk.format)
      return new ProtobufWriter().message(2, inner.int(3, chunk.expected_tokens ?? 0))
    case 'dmel':
      return new ProtobufWriter().message(3, inner.bytes(1, bytesOf(chunk.dmel)))
    case 'image_asset_pointer':
      throw new WireError(at, 'a pointer to an image can be sent as JSON only')
  }
}

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Uint8Array.from(atob(data), (char) => char.charCodeAt(0)) : data
}

export function readChunk(reader: ProtobufReader): Chunk {
  let chunk: Chunk | undefined
  reader.fields((field) => {
    if (field.number === 1) chunk = readText(reader.message(field, 'encoded_text'))
    else if (field.number === 2) chunk = readImage(reader.message(field, 'image'))
    else if (field.number === 3) chunk = { type: 'dmel', dmel: firstBytes(reader.message(field, 'dmel')) }
  })
  if (chunk === undefined) throw new WireError(reader.at, 'a chunk of no known kind')
  return chunk
}

function readText(reader: ProtobufReader): Chunk {
  return { type: 'encoded_text', tokens: unpack(firstBytes(reader), DType.int32, reader.at) }
}

function readImage(reader: ProtobufReader): Chunk {
  let data: Uint8Array = new Uint8Array()
  let format = ''
  let expected: number | undefined
  reader.fields((field) => {
    if (field.number === 1) data = reader.bytes(field)
    else if (field.number === 2) format = reader.string(field)
    else if (field.number === 3) expected = reader.int(field)
  })
  const known = ImageFormat.safeParse(format)
  if (!known.success) throw new WireError(reader.at, `"${format}" is no image format`)
  return { type: 'image', data, format: known.data, expected_tokens: expected }
}

function firstBytes(reader: ProtobufReader): Uint8Array {
  let bytes: Uint8Array = new Uint8Array()
  reader.fields((field) => {
    if (field.number !== 1) return false
    bytes = reader.bytes(field)
    return true
  })
  return bytes
}
