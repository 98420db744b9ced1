// Tensors on the wire: flat, row-major, dense or sparse by rows (CSR), in JSON and in protobuf.
import * as z from 'zod'
import { type ProtobufReader, ProtobufWriter, WireError } from './protobuf.ts'

// Numbers in a row, whatever holds them: JSON gives plain arrays, protobuf typed ones.
export type NumberArray = readonly number[] | Float32Array | Float64Array | Int32Array

// One loop instead of a schema per element: a batch holds millions of numbers.
function isNumberArray(value: unknown): value is NumberArray {
  if (value instanceof Float32Array || value instanceof Float64Array || value instanceof Int32Array) return true
  if (!Array.isArray(value)) return false
  for (let at = 0; at < value.length; at++) if (typeof value[at] !== 'number') return false
  return true
}

/** Schema of a list of numbers. */
export const NumberArray = z.custom<NumberArray>(isNumberArray, 'expected a list of numbers')

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
  })
  for (const axis of shape) if (axis < 0) throw new WireError(at, `${axis} is no size of an axis`)
  const data = unpack(csr?.values ?? dense ?? new Uint8Array(), dtype, at)
  if (csr === undefined) {
    const whole = { data, dtype: dtypeName(dtype), shape: shape.length === 0 ? undefined : shape }
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
    if (part !== undefined) csr[part] = reader.bytes(field)
  })
  return csr
}

// Arrays that protobuf carries as little-endian bytes.
/** Element types on the wire, by their enum number. */
export const DType = Object.freeze({ float32: 1, int64: 2, int32: 3, bfloat16: 4 })

const itemSizes = [undefined, 4, 8, 4, 2] as const

/** Bytes of one element; an unknown type is an error. */
export function itemSize(dtype: number, at: string): number {
  const size = itemSizes[dtype]
  if (size === undefined) throw new WireError(at, `${dtype} is no element type`)
  return size
}

/** The public name of an element type: widths collapse to two names. */
export function dtypeName(dtype: number): 'float32' | 'int64' {
  return dtype === DType.int64 || dtype === DType.int32 ? 'int64' : 'float32'
}

export function packFloat32(values: ArrayLike<number>): Uint8Array {
  return pack(values, 4, (view, at, value) => view.setFloat32(at, value, true))
}

export function packInt32(values: ArrayLike<number>): Uint8Array {
  return pack(values, 4, (view, at, value) => view.setInt32(at, value, true))
}

export function packInt64(values: ArrayLike<number>): Uint8Array {
  return pack(values, 8, (view, at, value) => {
    view.setUint32(at, value >>> 0, true)
    view.setInt32(at + 4, Math.floor(value / 2 ** 32), true)
  })
}

function pack(values: ArrayLike<number>, size: number, set: (view: DataView, at: number, value: number) => void) {
  const bytes = new Uint8Array(values.length * size)
  const view = new DataView(bytes.buffer)
  for (let index = 0; index < values.length; index++) set(view, index * size, values[index] ?? 0)
  return bytes
}

/** Elements of the type: int64 as Int32Array where all fit, else as doubles that hold them exactly. */
export function unpack(bytes: Uint8Array, dtype: number, at: string): Float32Array | Int32Array | Float64Array {
  const size = itemSize(dtype, at)
  if (bytes.length % size !== 0) throw new WireError(at, `${bytes.length} bytes are no whole number of elements`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = bytes.length / size
  if (dtype === DType.int64) return unpackInt64(view, count, at)
  if (dtype === DType.int32) {
    const values = new Int32Array(count)
    for (let index = 0; index < count; index++) values[index] = view.getInt32(index * 4, true)
    return values
  }
  const values = new Float32Array(count)
  if (dtype === DType.float32) {
    for (let index = 0; index < count; index++) values[index] = view.getFloat32(index * 4, true)
    return values
  }
  // bfloat16 is the upper half of a float32.
  const bits = new Uint32Array(values.buffer)
  for (let index = 0; index < count; index++) bits[index] = view.getUint16(index * 2, true) << 16
  return values
}

function unpackInt64(view: DataView, count: number, at: string): Int32Array | Float64Array {
  const small = new Int32Array(count)
  for (let index = 0; index < count; index++) {
    const low = view.getInt32(index * 8, true)
    if (view.getInt32(index * 8 + 4, true) !== low >> 31) return unpackWide(view, count, at)
    small[index] = low
  }
  return small
}

function unpackWide(view: DataView, count: number, at: string): Float64Array {
  const wide = new Float64Array(count)
  for (let index = 0; index < count; index++) {
    const value = view.getInt32(index * 8 + 4, true) * 2 ** 32 + view.getUint32(index * 8, true)
    if (!Number.isSafeInteger(value)) throw new WireError(at, 'an integer is too large')
    wide[index] = value
  }
  return wide
}
