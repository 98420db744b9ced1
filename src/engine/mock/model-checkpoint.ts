// A model and its optimiser as a checkpoint, and back.
import { createHash } from 'node:crypto'
import { endianness } from 'node:os'
import * as z from 'zod'
import { AdamState, type Parameters } from '../optimizer/adam-state.ts'
import { refused } from '../refused.ts'
import { BigramModel, type BigramSpec } from './bigram-model.ts'

export type LoadedModel = { readonly model: BigramModel; readonly adam: AdamState }

/** The weights as bytes, with the optimiser's state where training is to resume from them. Gradients are not saved. */
export function exportModel({ model, adam }: LoadedModel, withOptimizer: boolean): Uint8Array {
  const { baseModel: base_model, vocabSize: vocab_size, rank } = model.spec
  const moments = { ...prefixed('adam_first.', adam.first), ...prefixed('adam_second.', adam.second) }
  const tensors = withOptimizer ? { ...model.parameters, ...moments } : model.parameters
  return encodeCheckpoint({ base_model, vocab_size, rank, adam_step: withOptimizer ? adam.step : undefined, tensors })
}

type ImportOptions = {
  /** Takes over the optimiser's state too; without it Adam starts anew. */
  optimizer: boolean
  vocabSize: number
  /** The model that is replaced: the checkpoint must fit it. */
  into?: BigramSpec | undefined
}

/** The model in the bytes of a checkpoint. */
export function importModel(bytes: Uint8Array, { optimizer, vocabSize, into }: ImportOptions): LoadedModel {
  const { base_model, vocab_size, rank, adam_step, tensors } = decodeCheckpoint(bytes)
  const spec = { baseModel: base_model, vocabSize: vocab_size, rank }
  const wanted = into ?? { ...spec, vocabSize }
  for (const key of ['baseModel', 'vocabSize', 'rank'] as const) {
    if (spec[key] === wanted[key]) continue
    throw refused(
      `the checkpoint’s ${words[key]} is ${spec[key] ?? 'none'}, the model’s is ${wanted[key] ?? 'none'}`,
      'use a checkpoint of an equal model.',
    )
  }
  if (optimizer && adam_step === undefined) {
    throw refused(
      'the checkpoint holds no optimiser state',
      'load it without the optimiser, or use a `state` checkpoint.',
    )
  }
  const model = new BigramModel(spec, 0)
  const adam = new AdamState(model.parameters)
  fill(model.parameters, tensors, '')
  if (optimizer) {
    fill(adam.first, tensors, 'adam_first.')
    fill(adam.second, tensors, 'adam_second.')
    adam.step = adam_step ?? 0
  }
  return { model, adam }
}

const words = { baseModel: 'base model', vocabSize: 'vocabulary size', rank: 'adapter rank' }

function prefixed(prefix: string, tensors: Tensors): Tensors {
  return Object.fromEntries(Object.entries(tensors).map(([name, values]) => [prefix + name, values]))
}

function fill(target: Parameters, source: Tensors, prefix: string): void {
  for (const [name, values] of Object.entries(target)) {
    const saved = source[prefix + name]
    if (saved?.length !== values.length)
      throw refused(`the checkpoint has no fitting tensor "${prefix}${name}"`, 'save it again.')
    values.set(saved)
  }
}

// Weights as bytes: a magic word, a version, a JSON header, float64 values, and a digest over all of it. A file of another
// program, a newer version, a cut or flipped one is refused by what is wrong with it.
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

type Tensors = Readonly<Record<string, Float64Array>>
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
  for (const [, { buffer, byteOffset, byteLength }] of entries) {
    bytes.set(littleEndian(Buffer.from(buffer, byteOffset, byteLength)), at)
    at += byteLength
  }
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
  const read = (length: number) => {
    const values = new Float64Array(length)
    Buffer.from(values.buffer).set(littleEndian(bytes.subarray(at, at + 8 * length)))
    at += 8 * length
    return values
  }
  return { ...header, tensors: Object.fromEntries(tensors.map(({ name, length }) => [name, read(length)])) }
}

// Nearly every machine has its numbers in the order of the file, so that they are copied as they are.
function littleEndian(doubles: Buffer): Buffer {
  return endianness() === 'LE' ? doubles : Buffer.from(doubles).swap64()
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
