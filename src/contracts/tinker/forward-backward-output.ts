// What a pass answers: one record of tensors per datum, and metrics. In protobuf the records are columns: one batch of
// values per field, cut by byte offsets. Datums whose fields or trailing axes differ stand in separate records.
import * as z from 'zod'
import { readNumberEntry } from './forward-backward-request.ts'
import { ProtobufReader, ProtobufWriter, WireError } from './protobuf.ts'
import {
  DType,
  denseTensor,
  dtypeName,
  itemSize,
  packFloat32,
  packInt64,
  sizeOfShape,
  TensorData,
  unpack,
} from './tensor-data.ts'

export const ForwardBackwardOutput = z.object({
  loss_fn_output_type: z.string().default('ArrayRecord'),
  loss_fn_outputs: z.array(z.record(z.string(), TensorData)),
  /** Keys are `name:reduction`. */
  metrics: z.record(z.string(), z.number()).default({}),
})
export type ForwardBackwardOutput = z.infer<typeof ForwardBackwardOutput>

type Output = Readonly<Record<string, TensorData>>

export function encodeForwardBackwardOutput(output: ForwardBackwardOutput): Uint8Array<ArrayBuffer> {
  const writer = new ProtobufWriter().string(1, output.loss_fn_output_type)
  for (const alike of groupAlike(output.loss_fn_outputs)) writer.message(2, writeRecord(alike))
  for (const [key, value] of Object.entries(output.metrics)) {
    writer.message(3, new ProtobufWriter().string(1, key).double(2, value))
  }
  return writer.finish()
}

function groupAlike(outputs: readonly Output[]): Output[][] {
  const groups: Output[][] = []
  let last: string | undefined
  for (const output of outputs) {
    const form = JSON.stringify(
      Object.entries(output).map(([name, { dtype, shape }]) => [name, dtype, shape?.slice(1) ?? []]),
    )
    if (form === last) groups.at(-1)?.push(output)
    else groups.push([output])
    last = form
  }
  return groups
}

function writeRecord(outputs: readonly Output[]): ProtobufWriter {
  const writer = new ProtobufWriter()
  for (const name of Object.keys(outputs[0] ?? {})) {
    const tensors = outputs.flatMap((output) => output[name] ?? [])
    writer.message(2, new ProtobufWriter().string(1, name).message(2, writeBatch(tensors)))
  }
  return writer.int(3, outputs.length)
}

function writeBatch(tensors: readonly TensorData[]): ProtobufWriter {
  const dtype = tensors[0]?.dtype ?? 'float32'
  const parts = tensors.map((tensor) => {
    const { data } = denseTensor(tensor)
    return dtype === 'int64' ? packInt64(data) : packFloat32(data)
  })
  const offsets = [0]
  for (const part of parts) offsets.push((offsets.at(-1) ?? 0) + part.length)
  const whole = new Uint8Array(offsets.at(-1) ?? 0)
  for (const [index, part] of parts.entries()) whole.set(part, offsets[index] ?? 0)
  return new ProtobufWriter()
    .bytes(1, whole)
    .bytes(2, packInt64(offsets))
    .int(3, DType[dtype])
    .packedInts(4, tensors[0]?.shape?.slice(1) ?? [])
}

// Records without fields announce datums by number alone; no request has more.
const mostBareDatums = 65_536

/** Reads a protobuf answer; bytes that are none are a `WireError`. */
export function decodeForwardBackwardOutput(bytes: Uint8Array): ForwardBackwardOutput {
  const reader = new ProtobufReader(bytes, '')
  const metrics = new Map<string, number>()
  const outputs: Record<string, TensorData>[] = []
  let type = ''
  reader.fields((field) => {
    if (field.number === 1) type = reader.string(field)
    else if (field.number === 2) readRecord(reader.message(field, 'loss_fn_outputs'), outputs)
    else if (field.number === 3) metrics.set(...readNumberEntry(reader.message(field, 'metrics')))
  })
  return {
    // A qualified class name is shown without its module.
    loss_fn_output_type: type.slice(type.lastIndexOf(':') + 1) || 'ArrayRecord',
    loss_fn_outputs: outputs,
    metrics: Object.fromEntries(metrics),
  }
}

function readRecord(reader: ProtobufReader, outputs: Record<string, TensorData>[]): void {
  const columns = new Map<string, TensorData[]>()
  let announced = 0
  reader.fields((field) => {
    if (field.number === 2) columns.set(...readColumn(reader.message(field, 'fields')))
    else if (field.number === 3) announced = reader.int(field)
  })
  const [first] = columns.values()
  const count = announced === 0 ? (first?.length ?? 0) : announced
  if (first === undefined && (count < 0 || outputs.length + count > mostBareDatums)) {
    throw new WireError(reader.at, `${count} datums without fields`)
  }
  for (const [name, column] of columns) {
    if (column.length !== count) throw new WireError(reader.at, `${name} has ${column.length} datums, not ${count}`)
  }
  // Every column has `count` tensors: that was checked above.
  for (let index = 0; index < count; index++) {
    outputs.push(Object.fromEntries(Array.from(columns, ([name, column]) => [name, column[index] as TensorData])))
  }
}

function readColumn(reader: ProtobufReader): [string, TensorData[]] {
  const [key, column = []] = reader.entry((field, name) => readBatch(reader.message(field, name)))
  return [key, column]
}

function readBatch(reader: ProtobufReader): TensorData[] {
  const { at } = reader
  const trailing: number[] = []
  let data: Uint8Array = new Uint8Array()
  let packedOffsets: Uint8Array = new Uint8Array()
  let dtype = 0
  reader.fields((field) => {
    if (field.number === 1) data = reader.bytes(field)
    else if (field.number === 2) packedOffsets = reader.bytes(field)
    else if (field.number === 3) dtype = reader.int(field)
    else if (field.number === 4) reader.ints(field, trailing)
  })
  const size = itemSize(dtype, at)
  const offsets = unpack(packedOffsets, DType.int64, at)
  const row = sizeOfShape(trailing)
  if (trailing.some((axis) => axis < 0) || !Number.isSafeInteger(row)) throw new WireError(at, 'bad trailing shape')
  return Array.from({ length: Math.max(0, offsets.length - 1) }, (_, index) => {
    const start = offsets[index] ?? 0
    const end = offsets[index + 1] ?? 0
    if (!(start >= 0 && end >= start && end <= data.length && start % size === 0)) {
      throw new WireError(at, `offsets ${start} to ${end} are not in ${data.length} bytes`)
    }
    const values = unpack(data.subarray(start, end), dtype, at)
    const rows = row === 0 ? 0 : values.length / row
    if (!Number.isInteger(rows) || rows * row !== values.length) {
      throw new WireError(at, `${values.length} values do not fill rows of ${row}`)
    }
    return { data: values, dtype: dtypeName(dtype), shape: [rows, ...trailing] }
  })
}
