// The form in which a pass over data is sent. Protobuf is tried first; a service that answers it as something it does not know
// gets the same request as JSON, and what it then takes is kept to.
import { createRequire } from 'node:module'
import type { Datum, FwdBwd, Metrics, NamedLoss, Tensor } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import type { Accepted, Call, Caller } from './caller.ts'
import type { OnTinkerEvent } from './client-events.ts'
import { ServiceError } from './service-error.ts'

type Format = 'json' | 'protobuf'

// How services that know no protobuf answer it: media type, body or route unknown.
const notUnderstood = [404, 405, 415, 422]

export class PassFormat {
  readonly #caller: Caller
  readonly #onEvent: OnTinkerEvent
  readonly #compress: ((bytes: Uint8Array) => Uint8Array) | undefined
  #format: Format
  #isProven: boolean

  constructor(options: { caller: Caller; onEvent: OnTinkerEvent; wire: 'auto' | Format; compress: boolean }) {
    this.#caller = options.caller
    this.#onEvent = options.onEvent
    this.#format = options.wire === 'json' ? 'json' : 'protobuf'
    this.#isProven = options.wire !== 'auto'
    this.#compress = options.compress ? findZstd() : undefined
  }

  /** Sends a pass and gives its promise. */
  async send(request: tinker.ForwardBackwardRequest): Promise<Accepted> {
    if (this.#format === 'json') return this.#sendJson(request)
    try {
      const accepted = await this.#sendProtobuf(request)
      if (!this.#isProven) this.#settle('protobuf')
      return accepted
    } catch (error) {
      const isUnknown = error instanceof ServiceError && notUnderstood.includes(error.status ?? 0)
      if (this.#isProven || !isUnknown) throw error
      const accepted = await this.#sendJson(request)
      this.#settle('json')
      return accepted
    }
  }

  #settle(format: Format): void {
    if (this.#isProven) return
    this.#format = format
    this.#isProven = true
    this.#onEvent({ type: 'wire', format })
  }

  #sendProtobuf(request: tinker.ForwardBackwardRequest): Promise<Accepted> {
    const plain = tinker.encodeForwardBackwardRequest(request)
    const bytes =
      this.#compress === undefined
        ? { data: plain, type: 'application/x-protobuf' }
        : { data: new Uint8Array(this.#compress(plain)), type: 'application/x-protobuf', encoding: 'zstd' }
    return this.#post('forward_backward', { bytes })
  }

  // As JSON a forward pass has a separate route: a service that overlooked `forward_only` would train on it.
  #sendJson({ model_id, seq_id, forward_backward_input, forward_only }: tinker.ForwardBackwardRequest) {
    const { data, loss_fn, loss_fn_config } = forward_backward_input
    const input = { data: data.map(toJsonDatum), loss_fn, loss_fn_config: loss_fn_config ?? undefined }
    return forward_only
      ? this.#post('forward', { json: { model_id, seq_id, forward_input: input } })
      : this.#post('forward_backward', { json: { model_id, seq_id, forward_backward_input: input } })
  }

  #post(route: string, body: Pick<Call, 'json' | 'bytes'>): Promise<Accepted> {
    return this.#caller.submit({ method: 'POST', path: `/api/v1/${route}`, ...body })
  }
}

// Node has zstd since 22.15. Without it the body goes uncompressed, which every service takes.
function findZstd(): ((bytes: Uint8Array) => Uint8Array) | undefined {
  const compress: unknown = Reflect.get(createRequire(import.meta.url)('node:zlib'), 'zstdCompressSync')
  return typeof compress === 'function' ? (bytes) => compress(bytes) : undefined
}

// A batch in parts that the service takes: in order, each as large as it may be.
type SplitLimits = { maxDatums: number; maxBytes: number }

/** Bytes of a datum on the wire, estimated as the service's limits mean it. */
function datumBytes({ tokens, lossInputs }: Datum): number {
  let size = 4 * tokens.length
  for (const [name, { data }] of Object.entries(lossInputs)) {
    size += data.length * (data instanceof Int32Array || name === 'target_tokens' ? 8 : 4)
  }
  return size
}

export type Part = { readonly data: readonly Datum[]; readonly sizeBytes: number }

/** A datum that is too large by itself still goes, alone. */
export function splitBatch(data: readonly Datum[], { maxDatums, maxBytes }: SplitLimits): Part[] {
  const parts: { data: Datum[]; sizeBytes: number }[] = []
  for (const datum of data) {
    const sizeBytes = datumBytes(datum)
    const last = parts.at(-1)
    if (last === undefined || last.data.length >= maxDatums || last.sizeBytes + sizeBytes > maxBytes) {
      parts.push({ data: [datum], sizeBytes })
    } else {
      last.data.push(datum)
      last.sizeBytes += sizeBytes
    }
  }
  return parts
}

// The answers to the parts of a batch as the answer to the whole.
/** One record per datum, in order; anything else is an answer that makes no sense. */
export function joinPasses(
  parts: readonly Part[],
  answers: readonly tinker.ForwardBackwardOutput[],
  loss: NamedLoss,
): FwdBwd {
  const outputs = parts.flatMap(({ data }, index) => {
    const records = answers[index]?.loss_fn_outputs ?? []
    if (records.length !== data.length) {
      throw new ServiceError('protocol', `${data.length} datums were sent, ${records.length} records came back`)
    }
    return records.map(fromRecord)
  })
  const metrics = reduceMetrics(
    answers.map((answer) => ({ metrics: answer.metrics, datums: answer.loss_fn_outputs.length })),
  )
  return { outputs, metrics: withLoss(metrics, parts, outputs, loss) }
}

function fromRecord(record: Readonly<Record<string, tinker.TensorData>>): Record<string, Tensor> {
  return Object.fromEntries(Object.entries(record).map(([name, tensor]) => [name, fromWireTensor(tensor)]))
}

// SkyRL reports no metrics. The loss of cross entropy follows from what it does report.
function withLoss(metrics: FwdBwd['metrics'], parts: readonly Part[], outputs: FwdBwd['outputs'], loss: NamedLoss) {
  if ('loss:sum' in metrics || loss.name !== 'cross_entropy') return metrics
  let sum = 0
  for (const [index, { lossInputs }] of parts.flatMap(({ data }) => data).entries()) {
    const logprobs = outputs[index]?.logprobs?.data ?? []
    for (let at = 0; at < logprobs.length; at++) {
      const weight = lossInputs.weights === undefined ? 1 : (lossInputs.weights.data[at] ?? 0)
      if (weight !== 0) sum -= weight * (logprobs[at] ?? 0)
    }
  }
  return { ...metrics, 'loss:sum': sum }
}

// Metrics of the parts of a batch as those of the whole. A key ends with how it is reduced: `loss:sum`.
type PartMetrics = { readonly metrics: Metrics; readonly datums: number }

/** Keys that some part lacks, and reductions that are not known, are left out. One part keeps all of its keys. */
export function reduceMetrics(parts: readonly PartMetrics[]): Metrics {
  const [first] = parts
  if (first === undefined) return {}
  if (parts.length === 1) return { ...first.metrics }
  const reduced: [string, number][] = []
  for (const key of Object.keys(first.metrics)) {
    const values = parts.flatMap(({ metrics }) => (Object.hasOwn(metrics, key) ? [metrics[key] ?? 0] : []))
    if (values.length < parts.length) continue
    const reduction = key.slice(key.indexOf(':') + 1)
    if (reduction === 'unique') {
      reduced.push(...values.map((value, index): [string, number] => [index === 0 ? key : `${key}_${index}`, value]))
      continue
    }
    const value = reduce(reduction, values, parts)
    if (value !== undefined) reduced.push([key, value])
  }
  return Object.fromEntries(reduced)
}

function reduce(reduction: string, values: readonly number[], parts: readonly PartMetrics[]): number | undefined {
  switch (reduction) {
    case 'mean':
      return mean(values, parts)
    case 'slack':
      return Math.max(...values) - mean(values, parts)
    case 'sum':
      return values.reduce((sum, value) => sum + value, 0)
    case 'min':
      return Math.min(...values)
    case 'max':
      return Math.max(...values)
    case 'hash_unordered':
    case 'hash2':
      return hashSum(values)
    default:
      return undefined
  }
}

function hashSum(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + BigInt(Math.trunc(value)), 0n)
  return Number(BigInt.asUintN(64, sum))
}

function mean(values: readonly number[], parts: readonly PartMetrics[]): number {
  const weights = parts.map(({ datums }) => datums)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return values.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0) / total
}

// Datums and tensors as the wire has them, and back.
export function toWireDatum({ tokens, lossInputs }: Datum): tinker.Datum {
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens }] },
    loss_fn_inputs: Object.fromEntries(
      Object.entries(lossInputs).map(([name, tensor]) => [name, toWireTensor(name, tensor)]),
    ),
  }
}

function toWireTensor(name: string, { data, shape }: Tensor): tinker.TensorData {
  const dtype = data instanceof Int32Array || name === 'target_tokens' ? 'int64' : 'float32'
  return { data, dtype, shape: [...shape] }
}

/** The same as plain JSON: typed arrays would be written as objects. */
function toJsonDatum({ model_input, loss_fn_inputs }: tinker.Datum): unknown {
  return {
    model_input: {
      chunks: model_input.chunks.map((chunk) =>
        chunk.type === 'encoded_text' ? { ...chunk, tokens: Array.from(chunk.tokens) } : chunk,
      ),
    },
    loss_fn_inputs: Object.fromEntries(
      Object.entries(loss_fn_inputs).map(([name, tensor]) => [name, { ...tensor, data: plainNumbers(tensor) }]),
    ),
  }
}

// What was a float32 is written as the shortest decimal that is that float32: both forms carry the same value.
function plainNumbers({ data, dtype }: tinker.TensorData): number[] {
  return dtype === 'float32' ? Array.from(data, Math.fround) : Array.from(data)
}

function fromWireTensor({ data, dtype, shape }: tinker.TensorData): Tensor {
  return { data: typed(data, dtype), shape: shape ?? [data.length] }
}

function typed(data: tinker.NumberArray, dtype: tinker.TensorData['dtype']): Tensor['data'] {
  if (!Array.isArray(data)) return data as Tensor['data'] // what is no plain array is a typed one
  if (dtype === 'float32') return Float32Array.from(data)
  const ints = Int32Array.from(data)
  return data.every((value, index) => value === ints[index]) ? ints : Float64Array.from(data)
}
