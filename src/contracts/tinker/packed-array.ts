// Arrays that protobuf carries as little-endian bytes.
import { WireError } from './wire-error.ts'

/** Element types on the wire, by their enum number. */
export const DType = Object.freeze({ float32: 1, int64: 2, int32: 3, bfloat16: 4 })

const itemSizes = new Map<number, number>([
  [DType.float32, 4],
  [DType.int64, 8],
  [DType.int32, 4],
  [DType.bfloat16, 2],
])

/** Bytes of one element; an unknown type is an error. */
export function itemSize(dtype: number, at: string): number {
  const size = itemSizes.get(dtype)
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
