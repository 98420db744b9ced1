// Completions. One form in memory, typed arrays; JSON and protobuf are read into it and written from it.
import * as z from 'zod'
import { NumberArray } from './number-array.ts'
import { DType, packFloat32, packInt32, unpack } from './packed-array.ts'
import { ProtobufReader } from './protobuf-reader.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import { WireError } from './wire-error.ts'

export const StopReason = z.enum(['stop', 'length'])
export type StopReason = z.infer<typeof StopReason>

/** The likeliest tokens per position, row-major `[length, k]`. Slots that do not exist hold token 0 and `noLogprob`. */
export interface TopK {
  readonly k: number
  readonly length: number
  readonly tokens: Int32Array
  readonly logprobs: Float32Array
}

/** Log-probability that marks a slot of `TopK` without a token. */
export const noLogprob = -99_999

export interface SampledSequence {
  readonly stop_reason: StopReason
  readonly tokens: Int32Array
  readonly logprobs?: Float32Array
  readonly topk_logprobs?: TopK
}

export interface SampleResponse {
  readonly sequences: readonly SampledSequence[]
  /** Per prompt token; NaN where there is none. */
  readonly prompt_logprobs?: Float32Array
  readonly topk_prompt_logprobs?: TopK
  readonly prompt_cache_hit_tokens: number
}

const TopKRows = z.array(z.array(z.tuple([z.int(), z.number()])).nullable())

/** The JSON form, which clients before 0.25 read. */
export const SampleResponseJson = z.object({
  type: z.literal('sample').nullish(),
  sequences: z.array(
    z.object({
      stop_reason: StopReason,
      tokens: NumberArray,
      logprobs: NumberArray.nullish(),
      topk_logprobs: TopKRows.nullish(),
    }),
  ),
  prompt_logprobs: z.array(z.number().nullable()).nullish(),
  topk_prompt_logprobs: TopKRows.nullish(),
  prompt_cache_hit_tokens: z.int().nullish(),
})
export type SampleResponseJson = z.infer<typeof SampleResponseJson>

export function sampleFromJson(json: SampleResponseJson): SampleResponse {
  return {
    sequences: json.sequences.map(({ stop_reason, tokens, logprobs, topk_logprobs }) => ({
      stop_reason,
      tokens: Int32Array.from(tokens),
      ...(logprobs == null ? {} : { logprobs: Float32Array.from(logprobs) }),
      ...(topk_logprobs == null ? {} : { topk_logprobs: fromRows(topk_logprobs) }),
    })),
    ...(json.prompt_logprobs == null
      ? {}
      : { prompt_logprobs: Float32Array.from(json.prompt_logprobs, (value) => value ?? Number.NaN) }),
    ...(json.topk_prompt_logprobs == null ? {} : { topk_prompt_logprobs: fromRows(json.topk_prompt_logprobs) }),
    prompt_cache_hit_tokens: json.prompt_cache_hit_tokens ?? 0,
  }
}

export function sampleToJson(response: SampleResponse): SampleResponseJson {
  const { prompt_logprobs, topk_prompt_logprobs } = response
  return {
    type: 'sample',
    sequences: response.sequences.map(({ stop_reason, tokens, logprobs, topk_logprobs }) => ({
      stop_reason,
      tokens: [...tokens],
      ...(logprobs === undefined ? {} : { logprobs: [...logprobs] }),
      ...(topk_logprobs === undefined ? {} : { topk_logprobs: toRows(topk_logprobs) }),
    })),
    ...(prompt_logprobs === undefined
      ? {}
      : { prompt_logprobs: Array.from(prompt_logprobs, (value) => (Number.isNaN(value) ? null : value)) }),
    ...(topk_prompt_logprobs === undefined ? {} : { topk_prompt_logprobs: toRows(topk_prompt_logprobs) }),
    prompt_cache_hit_tokens: response.prompt_cache_hit_tokens,
  }
}

type Rows = z.infer<typeof TopKRows>

function fromRows(rows: Rows): TopK {
  const k = rows.reduce((most, row) => Math.max(most, row?.length ?? 0), 0)
  const tokens = new Int32Array(rows.length * k)
  const logprobs = new Float32Array(rows.length * k).fill(noLogprob)
  for (const [position, row] of rows.entries()) {
    for (const [slot, [token, logprob]] of (row ?? []).entries()) {
      tokens[position * k + slot] = token
      logprobs[position * k + slot] = logprob
    }
  }
  return { k, length: rows.length, tokens, logprobs }
}

function toRows({ k, length, tokens, logprobs }: TopK): Rows {
  return Array.from({ length }, (_, position) => {
    const row: [number, number][] = []
    for (let slot = position * k; slot < (position + 1) * k; slot++) {
      const logprob = logprobs[slot] ?? noLogprob
      if (logprob === noLogprob) break
      row.push([tokens[slot] ?? 0, logprob])
    }
    return row.length === 0 ? null : row
  })
}

export function encodeSampleResponse(response: SampleResponse): Uint8Array<ArrayBuffer> {
  const writer = new ProtobufWriter()
  for (const { stop_reason, tokens, logprobs, topk_logprobs } of response.sequences) {
    const sequence = new ProtobufWriter().int(1, stop_reason === 'stop' ? 0 : 1).bytes(2, packInt32(tokens))
    if (logprobs !== undefined) sequence.bytes(3, packFloat32(logprobs), 'explicit')
    if (topk_logprobs !== undefined) sequence.message(4, writeTopK(topk_logprobs))
    writer.message(1, sequence)
  }
  const { prompt_logprobs, topk_prompt_logprobs } = response
  if (prompt_logprobs !== undefined) writer.bytes(2, packFloat32(prompt_logprobs), 'explicit')
  if (topk_prompt_logprobs !== undefined) writer.message(3, writeTopK(topk_prompt_logprobs))
  return writer.int(4, response.prompt_cache_hit_tokens).finish()
}

function writeTopK({ k, length, tokens, logprobs }: TopK): ProtobufWriter {
  return new ProtobufWriter().bytes(1, packInt32(tokens)).bytes(2, packFloat32(logprobs)).int(3, k).int(4, length)
}

/** Reads a protobuf answer; bytes that are none are a `WireError`. */
export function decodeSampleResponse(bytes: Uint8Array): SampleResponse {
  const reader = new ProtobufReader(bytes, '')
  const sequences: SampledSequence[] = []
  let promptLogprobs: Uint8Array = new Uint8Array()
  let topK: TopK | undefined
  let cached = 0
  reader.fields((field) => {
    if (field.number === 1) sequences.push(readSequence(reader.message(field, `sequences[${sequences.length}]`)))
    else if (field.number === 2) promptLogprobs = reader.bytes(field)
    else if (field.number === 3) topK = readTopK(reader.message(field, 'topk_prompt_logprobs'))
    else if (field.number === 4) cached = reader.int(field)
    else return false
    return true
  })
  return {
    sequences,
    ...(promptLogprobs.length === 0 ? {} : { prompt_logprobs: floats(promptLogprobs, 'prompt_logprobs') }),
    ...(topK === undefined ? {} : { topk_prompt_logprobs: topK }),
    prompt_cache_hit_tokens: cached,
  }
}

function readSequence(reader: ProtobufReader): SampledSequence {
  let reason = 0
  let tokens: Uint8Array = new Uint8Array()
  let logprobs: Uint8Array = new Uint8Array()
  let topK: TopK | undefined
  reader.fields((field) => {
    if (field.number === 1) reason = reader.int(field)
    else if (field.number === 2) tokens = reader.bytes(field)
    else if (field.number === 3) logprobs = reader.bytes(field)
    else if (field.number === 4) topK = readTopK(reader.message(field, 'topk_sampled_logprobs'))
    else return false
    return true
  })
  const stop_reason = StopReason.options[reason]
  if (stop_reason === undefined) throw new WireError(reader.at, `${reason} is no reason to stop`)
  return {
    stop_reason,
    tokens: ints(tokens, reader.at),
    ...(logprobs.length === 0 ? {} : { logprobs: floats(logprobs, reader.at) }),
    ...(topK === undefined ? {} : { topk_logprobs: topK }),
  }
}

function readTopK(reader: ProtobufReader): TopK | undefined {
  let tokens: Uint8Array = new Uint8Array()
  let logprobs: Uint8Array = new Uint8Array()
  let k = 0
  let length = 0
  reader.fields((field) => {
    if (field.number === 1) tokens = reader.bytes(field)
    else if (field.number === 2) logprobs = reader.bytes(field)
    else if (field.number === 3) k = reader.int(field)
    else if (field.number === 4) length = reader.int(field)
    else return false
    return true
  })
  if (k === 0 || length === 0) return undefined
  if (tokens.length !== 4 * k * length || logprobs.length !== 4 * k * length) {
    throw new WireError(reader.at, `${length} positions of ${k} do not fill its arrays`)
  }
  return { k, length, tokens: ints(tokens, reader.at), logprobs: floats(logprobs, reader.at) }
}

function ints(bytes: Uint8Array, at: string): Int32Array {
  return Int32Array.from(unpack(bytes, DType.int32, at))
}

function floats(bytes: Uint8Array, at: string): Float32Array {
  return Float32Array.from(unpack(bytes, DType.float32, at))
}
