// Trained weights as bytes: a safetensors file of float64 whose metadata says which model they belong to, with a digest over all
// of it. A file of another program, a cut or flipped one is refused by what is wrong with it.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { LoraSpec } from '../../contracts/index.ts'
import { EvsysError, withoutUndefined } from '../../kernel/index.ts'
import { refused } from '../refused.ts'
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from './safetensors-file.ts'

export interface Checkpoint {
  readonly baseModel: string
  /** Absent: all weights were trained. */
  readonly lora?: LoraSpec | undefined
  /** Numerator of the adapter's scale; without an adapter it has no meaning. */
  readonly alpha?: number | undefined
  readonly weights: ReadonlyMap<string, CheckpointTensor>
  /** Moments of every weight, where training can resume. */
  readonly adam?: { readonly step: number; readonly first: Moments; readonly second: Moments } | undefined
}

export type CheckpointTensor = { readonly shape: readonly number[]; readonly data: Float64Array }
type Moments = ReadonlyMap<string, CheckpointTensor>

const format = 'evsys-checkpoint'
const version = '1'
const parts = { weights: '', first: 'adam_first.', second: 'adam_second.' }

/** A checkpoint as bytes. Equal checkpoints give equal bytes. */
export function encodeCheckpoint({ baseModel, lora, alpha, weights, adam }: Checkpoint): Uint8Array {
  const tensors = new Map<string, NamedTensor>([
    ...prefixed(parts.weights, weights),
    ...prefixed(parts.first, adam?.first ?? new Map()),
    ...prefixed(parts.second, adam?.second ?? new Map()),
  ])
  const metadata = withoutUndefined({
    format,
    version,
    base_model: baseModel,
    lora: lora === undefined ? undefined : JSON.stringify(lora),
    alpha: lora === undefined ? undefined : String(alpha),
    adam_step: adam === undefined ? undefined : String(adam.step),
  })
  return encodeSafetensors(tensors, { ...metadata, digest: digestOf(tensors, metadata) })
}

/** The checkpoint in bytes that may hold anything. */
export function decodeCheckpoint(bytes: Uint8Array): Checkpoint {
  const { tensors, metadata } = decoded(bytes)
  const { digest, ...rest } = Object.fromEntries(metadata)
  if (rest.format !== format) throw bad('these bytes are no checkpoint of evsys')
  if (rest.version !== version) {
    throw refused(`the checkpoint has version ${rest.version}, this evsys reads version ${version}`, 'update evsys.')
  }
  if (digest !== digestOf(tensors, rest)) throw bad('the checkpoint is damaged: its digest does not match')
  const { base_model, lora, alpha, adam_step } = parsedMetadata(rest)
  const moments = { first: part(tensors, parts.first), second: part(tensors, parts.second) }
  const adam = adam_step === undefined ? undefined : { step: adam_step, ...moments }
  return { baseModel: base_model, lora, alpha, weights: part(tensors, parts.weights), adam }
}

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue('no JSON')
    return z.NEVER
  }
})
const Lora = z.strictObject({
  rank: z.int().min(1),
  seed: z.int(),
  trainAttention: z.boolean(),
  trainMlp: z.boolean(),
  trainUnembedding: z.boolean(),
})
const Metadata = z.strictObject({
  format: z.string(),
  version: z.string(),
  base_model: z.string(),
  lora: json.pipe(Lora).optional(),
  alpha: z.coerce.number().positive().optional(),
  adam_step: z.coerce.number().int().min(0).optional(),
})

function parsedMetadata(metadata: Record<string, string>): z.infer<typeof Metadata> {
  const parsed = Metadata.safeParse(metadata)
  if (parsed.success) return parsed.data
  throw bad('the checkpoint’s description cannot be read')
}

function decoded(bytes: Uint8Array): ReturnType<typeof decodeSafetensors> {
  try {
    return decodeSafetensors(bytes, 'checkpoint')
  } catch (cause) {
    if (EvsysError.is(cause)) throw bad(cause.message)
    throw cause
  }
}

function prefixed(prefix: string, tensors: Moments): [string, NamedTensor][] {
  return [...tensors].map(([name, { shape, data }]) => [prefix + name, { dtype: 'F64', shape, data }])
}

function part(tensors: ReadonlyMap<string, NamedTensor>, prefix: string): Moments {
  const others = Object.values(parts).filter((each) => each !== prefix && each !== '')
  return new Map(
    [...tensors]
      .filter(([name]) => name.startsWith(prefix) && !others.some((other) => name.startsWith(other)))
      .map(([name, { shape, data }]) => [name.slice(prefix.length), { shape, data }]),
  )
}

// Over the file without the digest itself.
function digestOf(tensors: ReadonlyMap<string, NamedTensor>, metadata: Readonly<Record<string, string>>): string {
  return createHash('sha256').update(encodeSafetensors(tensors, metadata)).digest('hex')
}

function bad(message: string): EvsysError {
  return refused(message, 'use a checkpoint that evsys saved, or save it again.')
}
