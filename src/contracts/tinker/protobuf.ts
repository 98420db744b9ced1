// Writing proto3: fields with their default value are left out, as the official encoders do. Parts are joined once, at the
// end, so that large arrays are copied a single time however deeply they are nested.

const toUtf8 = new TextEncoder()
const fromUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Collects the fields of one message. */
export class ProtobufWriter {
  #parts: Uint8Array[] = []
  #size = 0

  /** int32, int64, uint32, bool or an enum; negative values take ten bytes, as proto3 wants. */
  int(field: number, value: number): this {
    if (value === 0) return this
    return this.#push(new Uint8Array(varint(value, varint(tag(field, 0)))))
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
    return this.#push(new Uint8Array(varint(value.length, varint(tag(field, 2))))).#push(value)
  }

  string(field: number, value: string, presence: 'implicit' | 'explicit' = 'implicit'): this {
    return this.bytes(field, toUtf8.encode(value), presence)
  }

  message(field: number, value: ProtobufWriter): this {
    this.#push(new Uint8Array(varint(value.#size, varint(tag(field, 2)))))
    for (const part of value.#parts) this.#parts.push(part)
    this.#size += value.#size
    return this
  }

  /** `repeated int64`, packed. */
  packedInts(field: number, values: readonly number[]): this {
    return this.bytes(field, new Uint8Array(values.flatMap((value) => varint(value))))
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

function varint(value: number, bytes: number[] = []): number[] {
  if (value >= 0 && value < 2 ** 31) {
    let small = value
    while (small > 127) {
      bytes.push((small & 127) | 128)
      small >>>= 7
    }
    bytes.push(small)
    return bytes
  }
  let rest = BigInt.asUintN(64, BigInt(value))
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return bytes
}

// Reading proto3 from bytes that may be hostile: every length is checked against what is there before it is used, nothing is
// allocated for a length that was merely claimed, and each step consumes input, so reading ends.
/** Wire types of proto3; groups (3, 4) are not part of it. */
const wireTypes = [0, 1, 2, 5] as const
type WireType = (typeof wireTypes)[number]

/** One field as it stands in the bytes. Its value is read by the method that fits, or skipped. */
type Field = { readonly number: number; readonly wireType: WireType }

/** Inside of one message: an empty one takes two bytes, and hundreds once it is read. */
const mostMessages = 262_144

/** Walks the fields of one message. `at` names the message in errors. */
export class ProtobufReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly at: string
  readonly #budget: { messages: number }
  #position = 0

  constructor(bytes: Uint8Array, at: string, budget = { messages: mostMessages }) {
    this.#bytes = bytes
    this.#budget = budget
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = at
  }

  /** Calls `read` for each field; what it does not read is skipped. */
  fields(read: (field: Field) => void): void {
    while (this.#position < this.#bytes.length) {
      const key = this.#varint()
      const type = typeof key === 'number' ? key & 7 : Number(key & 7n)
      const number = typeof key === 'number' ? key >>> 3 : Number(key >> 3n)
      const wireType = wireTypes.find((each) => each === type)
      if (wireType === undefined) throw this.#error(`wire type ${type} is not of proto3`)
      if (number < 1 || number > 2 ** 29 - 1) throw this.#error(`${number} is no field number`)
      const before = this.#position
      const field = { number, wireType }
      read(field)
      if (this.#position === before) this.#skip(field)
    }
  }

  /** A signed integer that a double holds exactly. */
  int(field: Field): number {
    this.#expect(field, 0)
    const read = this.#varint()
    if (typeof read === 'number') return read
    const value = BigInt.asIntN(64, read)
    const exact = Number(value)
    if (!Number.isSafeInteger(exact)) throw this.#error(`${value} is too large`)
    return exact
  }

  bool(field: Field): boolean {
    this.#expect(field, 0)
    return Number(this.#varint()) !== 0
  }

  double(field: Field): number {
    this.#expect(field, 1)
    return this.#view.getFloat64(this.#take(8), true)
  }

  /** The bytes as they lie in the message, not copied. */
  bytes(field: Field): Uint8Array {
    this.#expect(field, 2)
    const length = this.#varint()
    const left = this.#bytes.length - this.#position
    if (length > left) throw this.#error(`${length} bytes are announced, ${left} are there`)
    const start = this.#take(Number(length))
    return this.#bytes.subarray(start, this.#position)
  }

  string(field: Field): string {
    const bytes = this.bytes(field)
    try {
      return fromUtf8.decode(bytes)
    } catch {
      throw this.#error(`field ${field.number} is not UTF-8`)
    }
  }

  /** An entry of a map: its key, and what `read` makes of its value; undefined where it has none. */
  entry<T>(read: (field: Field, key: string) => T): [string, T | undefined] {
    let key = ''
    let value: T | undefined
    this.fields((field) => {
      if (field.number === 1) key = this.string(field)
      else if (field.number === 2) value = read(field, key)
    })
    return [key, value]
  }

  message(field: Field, name: string): ProtobufReader {
    if (--this.#budget.messages < 0) throw this.#error(`there are more than ${mostMessages} messages in it`)
    return new ProtobufReader(this.bytes(field), this.at === '' ? name : `${this.at}.${name}`, this.#budget)
  }

  /** `repeated int64`: packed, or one value at a time. */
  ints(field: Field, into: number[]): void {
    if (field.wireType === 0) {
      into.push(this.int(field))
      return
    }
    const packed = new ProtobufReader(this.bytes(field), this.at)
    while (packed.#position < packed.#bytes.length) into.push(packed.int({ number: field.number, wireType: 0 }))
  }

  #skip(field: Field): void {
    if (field.wireType === 0) this.#varint()
    else if (field.wireType === 2) this.bytes(field)
    else this.#take(field.wireType === 1 ? 8 : 4)
  }

  #expect(field: Field, wireType: WireType): void {
    if (field.wireType !== wireType) {
      throw this.#error(`field ${field.number} has wire type ${field.wireType}, not ${wireType}`)
    }
  }

  /** Nearly always small enough for a number, which is much faster. */
  #varint(): number | bigint {
    let small = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte()
      small |= (byte & 127) << shift
      if (byte < 128) return small
    }
    let value = BigInt(small)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return BigInt.asUintN(64, value)
    }
    throw this.#error('an integer has more than ten bytes')
  }

  #byte(): number {
    const byte = this.#bytes[this.#position]
    if (byte === undefined) throw this.#error('it ends in the middle of a field')
    this.#position += 1
    return byte
  }

  #take(count: number): number {
    const start = this.#position
    if (start + count > this.#bytes.length) throw this.#error('it ends in the middle of a field')
    this.#position += count
    return start
  }

  #error(message: string): WireError {
    return new WireError(this.at, message)
  }
}

/** Bytes or values that break the protocol; `at` names the place, `data[3].loss_fn_inputs.weights`. */
export class WireError extends Error {
  readonly at: string

  constructor(at: string, message: string) {
    super(at === '' ? message : `${at}: ${message}`)
    this.name = 'WireError'
    this.at = at
  }
}
