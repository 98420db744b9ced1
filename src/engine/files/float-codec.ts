// Numbers as they lie in files: little-endian float64, float32, float16 and bfloat16.

export const floatTypes = ['F64', 'F32', 'F16', 'BF16'] as const
export type FloatType = (typeof floatTypes)[number]

export const floatBytes: Readonly<Record<FloatType, number>> = { F64: 8, F32: 4, F16: 2, BF16: 2 }

export function isFloatType(dtype: string): dtype is FloatType {
  return floatTypes.some((type) => type === dtype)
}

/** Reads all numbers of `bytes` into `target` from `start` on. Every value of the small types is exact in float64. */
export function decodeFloats(dtype: FloatType, bytes: Uint8Array, target: Float64Array, start = 0): void {
  const whole = asFloats(dtype, bytes)
  if (whole !== undefined) {
    target.set(whole, start)
    return
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const read = readers[dtype]
  const size = floatBytes[dtype]
  const count = bytes.byteLength / size
  for (let i = 0; i < count; i++) target[start + i] = read(view, i * size)
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

// Gigabytes pass here: where memory lies as the file does, numbers are not read one by one.
function asFloats(dtype: FloatType, { buffer, byteOffset, byteLength }: Uint8Array): Float32Array | undefined {
  if (!isLittleEndian || byteOffset % 4 !== 0) return undefined
  if (dtype === 'F32') return new Float32Array(buffer, byteOffset, byteLength / 4)
  if (dtype !== 'BF16') return undefined
  const halves = new Uint16Array(buffer, byteOffset, byteLength / 2)
  const bits = new Uint32Array(halves.length)
  for (let i = 0; i < bits.length; i++) bits[i] = (halves[i] ?? 0) << 16
  return new Float32Array(bits.buffer)
}

/** Whether all numbers are finite, where memory lies as the file does; undefined where they have to be read one by one. */
export function areFinite(dtype: string, { buffer, byteOffset, byteLength }: Uint8Array): boolean | undefined {
  if (!isLittleEndian || byteOffset % 4 !== 0) return undefined
  const isHalf = dtype === 'BF16'
  if (!isHalf && dtype !== 'F32') return undefined
  // What is not finite has every bit of its exponent set. Two halves make a word; a last one stands alone.
  const words = new Uint32Array(buffer, byteOffset, Math.floor(byteLength / 4))
  const low = isHalf ? 0x7f80 : 0x7f800000
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0
    if ((word & 0x7f800000) === 0x7f800000 || (word & low) === low) return false
  }
  const [last = 0] = byteLength % 4 === 0 ? [] : new Uint16Array(buffer, byteOffset + byteLength - 2, 1)
  return (last & 0x7f80) !== 0x7f80
}

/** Writes numbers, rounded to the nearest that the type has, ties to even. */
export function encodeFloats(dtype: FloatType, values: ArrayLike<number>, target: Uint8Array): void {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength)
  const write = writers[dtype]
  const size = floatBytes[dtype]
  for (let i = 0; i < values.length; i++) write(view, i * size, values[i] ?? 0)
}

const readers: Readonly<Record<FloatType, (view: DataView, at: number) => number>> = {
  F64: (view, at) => view.getFloat64(at, true),
  F32: (view, at) => view.getFloat32(at, true),
  F16: (view, at) => fromHalf(view.getUint16(at, true)),
  BF16: (view, at) => fromBits(view.getUint16(at, true) * 2 ** 16),
}

const writers: Readonly<Record<FloatType, (view: DataView, at: number, value: number) => void>> = {
  F64: (view, at, value) => view.setFloat64(at, value, true),
  F32: (view, at, value) => view.setFloat32(at, value, true),
  F16: (view, at, value) => view.setUint16(at, toHalf(rounded(value, halfShape)), true),
  BF16: (view, at, value) => view.setUint16(at, toBits(rounded(value, brainShape)) >>> 16, true),
}

type FloatShape = { fractionBits: number; leastExponent: number; largest: number }
const halfShape: FloatShape = { fractionBits: 10, leastExponent: -14, largest: 65504 }
const brainShape: FloatShape = { fractionBits: 7, leastExponent: -126, largest: (2 - 2 ** -7) * 2 ** 127 }

// In one step from float64: by way of float32 a number could be rounded twice, and to the wrong side.
function rounded(value: number, { fractionBits, leastExponent, largest }: FloatShape): number {
  if (!Number.isFinite(value) || value === 0) return value
  const unit = 2 ** (Math.max(exponentOf(value), leastExponent) - fractionBits)
  const scaled = value / unit // exact: a power of two
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  const result = (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor) * unit
  if (Math.abs(result) > largest) return result * Number.POSITIVE_INFINITY
  return result === 0 ? value * 0 : result // keeps the sign of a number that became zero
}

const scratch = new DataView(new ArrayBuffer(8))

function exponentOf(value: number): number {
  scratch.setFloat64(0, value)
  return ((scratch.getUint16(0) >>> 4) & 0x7ff) - 1023
}

function fromBits(bits: number): number {
  scratch.setUint32(0, bits)
  return scratch.getFloat32(0)
}

function toBits(value: number): number {
  scratch.setFloat32(0, value)
  return scratch.getUint32(0)
}

function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >>> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
}

function toHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (Number.isNaN(value)) return 0x7e00
  if (size === Number.POSITIVE_INFINITY) return sign | 0x7c00
  if (size < 2 ** -14) return sign | (size * 2 ** 24)
  const exponent = exponentOf(size)
  return sign | ((exponent + 15) << 10) | (size * 2 ** (10 - exponent) - 1024)
}
