// The request that moves gradients: data, a loss and its settings. `forward_only` asks for the same pass without gradients;
// a server that overlooked it would train on what was meant for evaluation.
import * as z from 'zod'
import { ModelInput, readChunk, writeChunk } from './model-input.ts'
import { ProtobufReader, ProtobufWriter, WireError } from './protobuf.ts'
import { readTensor, TensorData, writeTensor } from './tensor-data.ts'

/** One training example. */
export const Datum = z.object({ model_input: ModelInput, loss_fn_inputs: z.record(z.string(), TensorData) })
export type Datum = z.infer<typeof Datum>

/** Settings of a loss. Text values exist since SDK 0.27. */
export const LossFnConfig = z.record(z.string(), z.union([z.number(), z.string()]))
export type LossFnConfig = z.infer<typeof LossFnConfig>

export const ForwardBackwardInput = z.object({
  data: z.array(Datum),
  loss_fn: z.string(),
  loss_fn_config: LossFnConfig.nullish(),
})
export type ForwardBackwardInput = z.infer<typeof ForwardBackwardInput>

/** JSON body of `forward_backward`. */
export const ForwardBackwardRequest = z.object({
  model_id: z.string(),
  seq_id: z.int().min(0).nullish(),
  forward_backward_input: ForwardBackwardInput,
  forward_only: z.boolean().nullish(),
})
export type ForwardBackwardRequest = z.infer<typeof ForwardBackwardRequest>

/** JSON body of `forward`, which clients before 0.25 call. */
export const ForwardRequest = z.object({
  model_id: z.string(),
  seq_id: z.int().min(0).nullish(),
  forward_input: ForwardBackwardInput,
})

/** Protobuf body of `forward_backward`. */
export function encodeForwardBackwardRequest(request: ForwardBackwardRequest): Uint8Array<ArrayBuffer> {
  const { data, loss_fn, loss_fn_config } = request.forward_backward_input
  const writer = new ProtobufWriter().string(1, request.model_id).int(2, request.seq_id ?? 0)
  for (const [index, datum] of data.entries()) writer.message(3, writeDatum(datum, `data[${index}]`))
  writer.string(4, loss_fn)
  const settings = Object.entries(loss_fn_config ?? {})
  for (const [key, value] of settings) {
    if (typeof value === 'number') writer.message(5, new ProtobufWriter().string(1, key).double(2, value))
  }
  writer.bool(6, request.forward_only ?? false)
  // Numbers stand in both maps: older servers know the first alone, newer ones prefer the second.
  for (const [key, value] of settings) {
    const setting = new ProtobufWriter()
    if (typeof value === 'number') setting.double(1, value)
    else setting.string(2, value, 'explicit')
    writer.message(7, new ProtobufWriter().string(1, key).message(2, setting))
  }
  return writer.finish()
}

function writeDatum(datum: Datum, at: string): ProtobufWriter {
  const writer = new ProtobufWriter()
  for (const chunk of datum.model_input.chunks) writer.message(1, writeChunk(chunk, at))
  for (const [name, tensor] of Object.entries(datum.loss_fn_inputs)) {
    writer.message(2, new ProtobufWriter().string(1, name).message(2, writeTensor(tensor)))
  }
  return writer
}

/** Reads the protobuf body of `forward_backward`; bytes that are none are a `WireError`. */
export function decodeForwardBackwardRequest(bytes: Uint8Array): ForwardBackwardRequest {
  const reader = new ProtobufReader(bytes, '')
  const data: Datum[] = []
  const config = new Map<string, number | string>()
  const newer = new Map<string, number | string>()
  let model_id = ''
  let seq_id = 0
  let loss_fn = ''
  let forward_only = false
  reader.fields((field) => {
    if (field.number === 1) model_id = reader.string(field)
    else if (field.number === 2) seq_id = reader.int(field)
    else if (field.number === 3) data.push(readDatum(reader.message(field, `data[${data.length}]`)))
    else if (field.number === 4) loss_fn = reader.string(field)
    else if (field.number === 5) config.set(...readNumberEntry(reader.message(field, 'loss_fn_config')))
    else if (field.number === 6) forward_only = reader.bool(field)
    else if (field.number === 7) newer.set(...readSettingEntry(reader.message(field, 'loss_fn_config_v2')))
  })
  if (seq_id < 0) throw new WireError('seq_id', `${seq_id} is negative`)
  const settings = newer.size > 0 ? newer : config
  return {
    model_id,
    seq_id: seq_id === 0 ? undefined : seq_id,
    forward_backward_input: {
      data,
      loss_fn,
      loss_fn_config: settings.size === 0 ? undefined : Object.fromEntries(settings),
    },
    forward_only,
  }
}

function readDatum(reader: ProtobufReader): Datum {
  const chunks: ModelInput['chunks'] = []
  const inputs = new Map<string, TensorData>()
  reader.fields((field) => {
    if (field.number === 1) chunks.push(readChunk(reader.message(field, `model_input.chunks[${chunks.length}]`)))
    else if (field.number === 2) inputs.set(...readInputEntry(reader.message(field, 'loss_fn_inputs')))
  })
  return { model_input: { chunks }, loss_fn_inputs: Object.fromEntries(inputs) }
}

/** An entry of `map<string, double>`. */
export function readNumberEntry(reader: ProtobufReader): [string, number] {
  const [key, value = 0] = reader.entry((field) => reader.double(field))
  return [key, value]
}

function required<T>(reader: ProtobufReader, [key, value]: [string, T | undefined]): [string, T] {
  if (value === undefined) throw new WireError(reader.at, `${key} has no value`)
  return [key, value]
}

function readInputEntry(reader: ProtobufReader): [string, TensorData] {
  return required(
    reader,
    reader.entry((field, key) => readTensor(reader.message(field, key))),
  )
}

function readSettingEntry(reader: ProtobufReader): [string, number | string] {
  return required(
    reader,
    reader.entry((field, key) => readSetting(reader.message(field, key))),
  )
}

function readSetting(reader: ProtobufReader): number | string | undefined {
  let value: number | string | undefined
  reader.fields((field) => {
    if (field.number === 1) value = reader.double(field)
    else if (field.number === 2) value = reader.string(field)
  })
  return value
}
