// Writing proto3: fields with their default value are left out, as the official encoders do. Parts are joined once, at the
// end, so that large arrays are copied a single time however deeply they are nested.

/** Collects the fields of one message. */
export class ProtobufWriter {
  #parts: Uint8Array[] = []
  #size = 0

  /** int32, int64, uint32, bool or an enum; negative values take ten bytes, as proto3 wants. */
  int(field: number, value: number): this {
    if (value === 0) return this
    return this.#push(Uint8Array.from([...varint(tag(field, 0)), ...varint(value)]))
  }

  bool(field: number, value: boolean): this {
    return this.int(field, value ? 1 : 0)
  }

  /** A double, written even when it is 0: for map values and `oneof` members, where presence means something. */
  double(field: number, value: number): this {
    const bytes = new Uint8Array(9)
    bytes[0] = tag(field, 1)
    new DataView(bytes.buffer).setFloat64(1, value, true)
    return this.#push(bytes)
  }

  /** A string or bytes; empty ones are written only where `presence` means something. */
  bytes(field: number, value: Uint8Array, presence: 'implicit' | 'explicit' = 'implicit'): this {
    if (value.length === 0 && presence === 'implicit') return this
    return this.#push(Uint8Array.from([...varint(tag(field, 2)), ...varint(value.length)])).#push(value)
  }

  string(field: number, value: string, presence: 'implicit' | 'explicit' = 'implicit'): this {
    return this.bytes(field, new TextEncoder().encode(value), presence)
  }

  message(field: number, value: ProtobufWriter): this {
    this.#push(Uint8Array.from([...varint(tag(field, 2)), ...varint(value.#size)]))
    for (const part of value.#parts) this.#parts.push(part)
    this.#size += value.#size
    return this
  }

  /** `repeated int64`, packed. */
  packedInts(field: number, values: readonly number[]): this {
    return this.bytes(field, Uint8Array.from(values.flatMap((value) => varint(value))))
  }

  finish(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#size)
    let at = 0
    for (const part of this.#parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  #push(part: Uint8Array): this {
    this.#parts.push(part)
    this.#size += part.length
    return this
  }
}

function tag(field: number, wireType: number): number {
  return field * 8 + wireType
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  if (value >= 0 && value < 2 ** 31) {
    let small = value
    while (small > 127) {
      bytes.push((small & 127) | 128)
      small >>>= 7
    }
    bytes.push(small)
    return bytes
  }
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return bytes
}
