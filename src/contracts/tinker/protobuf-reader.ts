// Reading proto3 from bytes that may be hostile: every length is checked against what is there before it is used, nothing is
// allocated for a length that was merely claimed, and each step consumes input, so reading ends.
import { WireError } from './wire-error.ts'

/** Wire types of proto3; groups (3, 4) are not part of it. */
const wireTypes = [0, 1, 2, 5] as const
type WireType = (typeof wireTypes)[number]

/** One field as it stands in the bytes. Its value is read by the method that fits, or skipped. */
export type Field = { readonly number: number; readonly wireType: WireType }

/** Walks the fields of one message. `at` names the message in errors. */
export class ProtobufReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly at: string
  #position = 0

  constructor(bytes: Uint8Array, at: string) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = at
  }

  /** Calls `read` for each field; what it does not read (it returns false) is skipped. */
  fields(read: (field: Field) => boolean): void {
    while (this.#position < this.#bytes.length) {
      const key = this.#varint()
      const wireType = wireTypes.find((each) => each === Number(key & 7n))
      const number = Number(key >> 3n)
      if (wireType === undefined) throw this.#error(`wire type ${key & 7n} is not of proto3`)
      if (number < 1 || number > 2 ** 29 - 1) throw this.#error(`${number} is no field number`)
      const before = this.#position
      const field = { number, wireType }
      if (!read(field)) this.#skip(field)
      else if (this.#position === before) throw this.#error(`field ${number} was not read`)
    }
  }

  /** A signed integer that a double holds exactly. */
  int(field: Field): number {
    this.#expect(field, 0)
    const value = BigInt.asIntN(64, this.#varint())
    const exact = Number(value)
    if (!Number.isSafeInteger(exact)) throw this.#error(`${value} is too large`)
    return exact
  }

  bool(field: Field): boolean {
    this.#expect(field, 0)
    return this.#varint() !== 0n
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
    if (length > BigInt(left)) throw this.#error(`${length} bytes are announced, ${left} are there`)
    const start = this.#take(Number(length))
    return this.#bytes.subarray(start, this.#position)
  }

  string(field: Field): string {
    const bytes = this.bytes(field)
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      throw this.#error(`field ${field.number} is not UTF-8`)
    }
  }

  message(field: Field, name: string): ProtobufReader {
    return new ProtobufReader(this.bytes(field), this.at === '' ? name : `${this.at}.${name}`)
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

  #varint(): bigint {
    let small = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte()
      small |= (byte & 127) << shift
      if (byte < 128) return BigInt(small)
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
