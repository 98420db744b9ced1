// Drawing completions.
import * as z from 'zod'
import { ModelInput } from './model-input.ts'
import { ProtobufReader, ProtobufWriter, WireError } from './protobuf.ts'
import { DType, NumberArray, packFloat32, packInt32, TensorData, unpack } from './tensor-data.ts'

const AnyInteger = z.number().refine(Number.isInteger, 'expected a whole number')

/** How completions are drawn. `stop`: absent stops at the end-of-text token alone, an empty list stops nowhere. */
export const SamplingParams = z.object({
  max_tokens: z.int().min(0).nullish(),
  /** Any 64 bits: JSON carries more digits than a double holds. */
  seed: AnyInteger.nullish(),
  stop: z.union([z.string(), z.array(z.string()), z.array(z.int())]).nullish(),
  temperature: z.number().min(0).nullish(),
  top_k: z.int().min(-1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
})
export type SamplingParams = z.infer<typeof SamplingParams>

/** Body of `asample`. What answers is named by session, by path or by base model. */
export const SampleRequest = z.object({
  sampling_session_id: z.string().nullish(),
  seq_id: z.int().min(0).nullish(),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  num_samples: z.int().min(1).default(1),
  prompt: ModelInput,
  sampling_params: SamplingParams,
  prompt_logprobs: z.boolean().nullish(),
  topk_prompt_logprobs: z.int().min(0).default(0),
  /** Since 0.30: the likeliest tokens at each sampled position. */
  topk_sample_logprobs: z.int().min(0).nullish(),
  /** Since 0.30: ids whose log-probabilities are asked for, `[prompt - 1, k]`. */
  target_prompt_logprobs: TensorData.nullish(),
  prompt_alt_tokens_k: z.int().min(0).nullish(),
  /** Scores the last tokens of the prompt alone. */
  prompt_logprobs_last_n: z.int().min(0).nullish(),
  type: z.literal('sample').nullish(),
})
export type SampleRequest = z.infer<typeof SampleRequest>
/** A request before defaults are filled in. */
export type SampleRequestInput = z.input<typeof SampleRequest>

// Completions. One form in memory, typed arrays; JSON and protobuf are read into it and written from it.
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
  readonly logprobs?: Float32Array | undefined
  readonly topk_logprobs?: TopK | undefined
}

export interface SampleResponse {
  readonly sequences: readonly SampledSequence[]
  /** Per prompt token; NaN where there is none. */
  readonly prompt_logprobs?: Float32Array | undefined
  readonly topk_prompt_logprobs?: TopK | undefined
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
      logprobs: logprobs == null ? undefined : Float32Array.from(logprobs),
      topk_logprobs: fromRows(topk_logprobs),
    })),
    prompt_logprobs: json.prompt_logprobs == null ? undefined : withNaN(json.prompt_logprobs),
    topk_prompt_logprobs: fromRows(json.topk_prompt_logprobs),
    prompt_cache_hit_tokens: json.prompt_cache_hit_tokens ?? 0,
  }
}

export function sampleToJson(response: SampleResponse): SampleResponseJson {
  const { sequences, prompt_logprobs, topk_prompt_logprobs, prompt_cache_hit_tokens } = response
  return {
    type: 'sample',
    sequences: sequences.map(({ stop_reason, tokens, logprobs, topk_logprobs }) => ({
      stop_reason,
      tokens: [...tokens],
      logprobs: logprobs && [...logprobs],
      topk_logprobs: topk_logprobs && toRows(topk_logprobs),
    })),
    prompt_logprobs: prompt_logprobs && Array.from(prompt_logprobs, (value) => (Number.isNaN(value) ? null : value)),
    topk_prompt_logprobs: topk_prompt_logprobs && toRows(topk_prompt_logprobs),
    prompt_cache_hit_tokens,
  }
}

function withNaN(values: readonly (number | null)[]): Float32Array {
  return Float32Array.from(values, (value) => value ?? Number.NaN)
}

type Rows = z.infer<typeof TopKRows>

function fromRows(rows: Rows | null | undefined): TopK | undefined {
  if (rows == null) return undefined
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
  })
  return {
    sequences,
    prompt_logprobs: promptLogprobs.length === 0 ? undefined : floats(promptLogprobs, 'prompt_logprobs'),
    topk_prompt_logprobs: topK,
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
  })
  const stop_reason = StopReason.options[reason]
  if (stop_reason === undefined) throw new WireError(reader.at, `${reason} is no reason to stop`)
  return {
    stop_reason,
    tokens: ints(tokens, reader.at),
    logprobs: logprobs.length === 0 ? undefined : floats(logprobs, reader.at),
    topk_logprobs: topK,
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
