// Tensors on the wire: flat, row-major, dense or sparse by rows (CSR), in JSON and in protobuf.
import * as z from 'zod'
import { NumberArray } from './number-array.ts'
import { DType, dtypeName, packFloat32, packInt64, unpack } from './packed-array.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import { WireError } from './wire-error.ts'

/** A tensor: without `shape` it has one axis; with both index lists `data` holds the stored values alone. */
export const TensorData = z.object({
  data: NumberArray,
  dtype: z.enum(['int64', 'float32']),
  shape: z.array(z.int().min(0)).nullish(),
  sparse_crow_indices: NumberArray.nullish(),
  sparse_col_indices: NumberArray.nullish(),
})
export type TensorData = z.infer<typeof TensorData>

/** The largest dense tensor that a sparse one may stand for: a few bytes must not become gigabytes. */
const mostElements = 2 ** 24

/** The values of a tensor, all of them, and its shape. What does not fit together is a `WireError`. */
export function denseTensor(tensor: TensorData, at = ''): { data: NumberArray; shape: readonly number[] } {
  const { sparse_crow_indices: crow, sparse_col_indices: col } = tensor
  if (crow == null && col == null) {
    const shape = tensor.shape ?? [tensor.data.length]
    const count = sizeOfShape(shape)
    if (count !== tensor.data.length) {
      throw new WireError(at, `shape [${shape.join(', ')}] has ${count} elements, data has ${tensor.data.length}`)
    }
    return { data: tensor.data, shape }
  }
  if (crow == null || col == null) throw new WireError(at, 'a sparse tensor needs both of its index lists')
  return fromRows({ values: tensor.data, crow, col, shape: tensor.shape ?? [] }, tensor.dtype, at)
}

type Rows = { values: NumberArray; crow: NumberArray; col: NumberArray; shape: readonly number[] }

function fromRows({ values, crow, col, shape }: Rows, dtype: TensorData['dtype'], at: string) {
  const [rows, columns] = shape
  if (shape.length !== 2 || rows === undefined || columns === undefined) {
    throw new WireError(at, 'a sparse tensor needs a shape of two axes')
  }
  if (crow.length !== rows + 1)
    throw new WireError(at, `${rows} rows need ${rows + 1} row pointers, not ${crow.length}`)
  if (col.length !== values.length) throw new WireError(at, `${values.length} values have ${col.length} columns`)
  if (rows * columns > mostElements) throw new WireError(at, `more than ${mostElements} elements`)
  if (crow[0] !== 0 || crow[rows] !== values.length) throw new WireError(at, 'row pointers do not span the values')
  const data = dtype === 'int64' ? new Float64Array(rows * columns) : new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    const start = crow[row] ?? 0
    const end = crow[row + 1] ?? 0
    if (!(end >= start && end <= values.length)) throw new WireError(at, `row pointer ${row + 1} is out of order`)
    for (let index = start; index < end; index++) {
      const column = col[index] ?? -1
      if (!(Number.isInteger(column) && column >= 0 && column < columns)) {
        throw new WireError(at, `${column} is no column of ${columns}`)
      }
      data[row * columns + column] = values[index] ?? 0
    }
  }
  return { data, shape }
}

/** How many elements a shape has. */
export function sizeOfShape(shape: readonly number[]): number {
  return shape.reduce((size, axis) => size * axis, 1)
}

/** The message `Tensor`. */
export function writeTensor(tensor: TensorData): ProtobufWriter {
  const { sparse_crow_indices: crow, sparse_col_indices: col } = tensor
  const values = tensor.dtype === 'int64' ? packInt64(tensor.data) : packFloat32(tensor.data)
  const writer = new ProtobufWriter()
  if (crow != null && col != null) {
    const csr = new ProtobufWriter().bytes(1, values).bytes(2, packInt64(crow)).bytes(3, packInt64(col))
    writer.message(2, csr)
  } else writer.bytes(1, values, 'explicit')
  return writer.int(3, DType[tensor.dtype]).packedInts(4, tensor.shape ?? [])
}

type Csr = { values: Uint8Array; crow: Uint8Array; col: Uint8Array }

/** Reads the message `Tensor`; a sparse one stays sparse. */
export function readTensor(reader: ProtobufReader): TensorData {
  const { at } = reader
  const shape: number[] = []
  let dtype = 0
  let dense: Uint8Array | undefined
  let csr: Csr | undefined
  reader.fields((field) => {
    if (field.number === 1) [dense, csr] = [reader.bytes(field), undefined]
    else if (field.number === 2) [dense, csr] = [undefined, readCsr(reader.message(field, 'sparse_csr'))]
    else if (field.number === 3) dtype = reader.int(field)
    else if (field.number === 4) reader.ints(field, shape)
    else return false
    return true
  })
  for (const axis of shape) if (axis < 0) throw new WireError(at, `${axis} is no size of an axis`)
  const data = unpack(csr?.values ?? dense ?? new Uint8Array(), dtype, at)
  if (csr === undefined) {
    const whole = { data, dtype: dtypeName(dtype), ...(shape.length === 0 ? {} : { shape }) }
    denseTensor(whole, at)
    return whole
  }
  return {
    data,
    dtype: dtypeName(dtype),
    shape,
    sparse_crow_indices: unpack(csr.crow, DType.int64, at),
    sparse_col_indices: unpack(csr.col, DType.int64, at),
  }
}

function readCsr(reader: ProtobufReader): Csr {
  const csr: Csr = { values: new Uint8Array(), crow: new Uint8Array(), col: new Uint8Array() }
  const parts = [undefined, 'values', 'crow', 'col'] as const
  reader.fields((field) => {
    const part = parts[field.number]
    if (part === undefined) return false
    csr[part] = reader.bytes(field)
    return true
  })
  return csr
}
