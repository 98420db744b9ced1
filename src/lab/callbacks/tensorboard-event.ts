// TensorBoard's event file format: framed records of protobuf messages. A record is its length, a masked CRC32C of the length,
// the payload, a masked CRC32C of the payload; numbers are little-endian.

/** The first record of a file. */
export function versionEvent(atS: number): Uint8Array {
  return framed(Buffer.concat([double(1, atS), text(3, 'brain.Event:2')]))
}

/** A new start at a step: readers drop what earlier files hold from there on. Event { step = 2, session_log = 7 { status = 1 } }. */
export function startEvent(atS: number, step: number): Uint8Array {
  const start = varintField(1, 1)
  return framed(Buffer.concat([double(1, atS), varintField(2, step), bytes(7, start)]))
}

/** One scalar: Event { wall_time = 1, step = 2, summary = 5 { value = 1 { tag = 1, simple_value = 2 } } }. */
export function scalarEvent({
  atS,
  step,
  tag,
  value,
}: {
  atS: number
  step: number
  tag: string
  value: number
}): Uint8Array {
  const scalar = Buffer.concat([text(1, tag), float(2, value)])
  return framed(Buffer.concat([double(1, atS), varintField(2, step), bytes(5, bytes(1, scalar))]))
}

function framed(payload: Buffer): Uint8Array {
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(payload.length))
  return Buffer.concat([length, checksum(length), payload, checksum(payload)])
}

function checksum(data: Buffer): Buffer {
  const crc = crc32c(data)
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
  const out = Buffer.alloc(4)
  out.writeUInt32LE(masked)
  return out
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1 // Castagnoli, reflected
  return c >>> 0
})

/** CRC32C (RFC 3720). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of data) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

function varint(value: number): Buffer {
  const out: number[] = []
  let rest = BigInt(value)
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  return Buffer.from([...out, Number(rest)])
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)])
}

function double(field: number, value: number): Buffer {
  const out = Buffer.alloc(8)
  out.writeDoubleLE(value)
  return Buffer.concat([varint((field << 3) | 1), out])
}

function float(field: number, value: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeFloatLE(value)
  return Buffer.concat([varint((field << 3) | 5), out])
}

function bytes(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value])
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value, 'utf8'))
}
