// One compressed block of a zstd frame (RFC 8878, section 3.1.1.3): literals, and sequences of how many of them follow and what earlier
// content is repeated then.
import {
  BackwardBits,
  constantTable,
  decodeHuffman,
  type FseTable,
  fseTable,
  type HuffmanTable,
  readFseTable,
  readHuffmanTable,
} from './entropy.ts'
import { damaged } from './zstd-fault.ts'

/** What a block leaves to the next one of its frame. */
export interface BlockState {
  huffman?: HuffmanTable | undefined
  /** Lengths of literals, offsets, lengths of matches. */
  tables: (FseTable | undefined)[]
  offsets: [number, number, number]
}

export const newState = (): BlockState => ({ tables: [], offsets: [1, 4, 8] })

/** Where a frame's content is written. `start`: of the frame. */
export interface Target {
  bytes: Uint8Array
  readonly start: number
  size: number
  readonly windowBytes: number
}

/** There is room for `mostBytes` in the target, and no block has more. */
export function readBlock(block: Uint8Array, state: BlockState, target: Target, mostBytes: number): void {
  const { literals, end } = readLiterals(block, state, mostBytes)
  const { count, at } = readCount(block, end)
  const last = target.size + mostBytes
  let taken = 0
  if (count > 0) taken = runSequences(block, at, { count, state, target, literals, last })
  else if (at !== block.length) throw damaged('a block is longer than it says')
  const rest = literals.subarray(taken)
  if (target.size + rest.length > last) throw damaged('a block has too much content')
  target.bytes.set(rest, target.size)
  target.size += rest.length
}

function readLiterals(block: Uint8Array, state: BlockState, mostBytes: number): { literals: Uint8Array; end: number } {
  const head = (i: number) => block[i] ?? 0
  const kind = head(0) & 3
  const format = (head(0) >> 2) & 3
  if (kind < 2) {
    const headBytes = [1, 2, 1, 3][format] ?? 1
    const size =
      headBytes === 1 ? head(0) >> 3 : (head(0) >> 4) + (head(1) << 4) + (headBytes === 3 ? head(2) << 12 : 0)
    const end = headBytes + (kind === 0 ? size : 1)
    if (size > mostBytes || end > block.length) throw damaged('a block has more literals than it may')
    return { literals: kind === 0 ? block.subarray(headBytes, end) : new Uint8Array(size).fill(head(headBytes)), end }
  }
  const width = [10, 10, 14, 18][format] ?? 10
  const start = (4 + 2 * width + 7) >> 3
  const number = head(0) + head(1) * 2 ** 8 + head(2) * 2 ** 16 + head(3) * 2 ** 24 + head(4) * 2 ** 32
  const size = Math.floor(number / 2 ** 4) % 2 ** width
  const end = start + (Math.floor(number / 2 ** (4 + width)) % 2 ** width)
  if (size > mostBytes || end > block.length) throw damaged('a block has more literals than it may')
  let at = start
  if (kind === 2) {
    const read = readHuffmanTable(block.subarray(0, end), start)
    state.huffman = read.table
    at = read.end
  }
  if (state.huffman === undefined) throw damaged('a block repeats a table that was not there')
  const literals = new Uint8Array(size)
  decodeStreams(block.subarray(at, end), state.huffman, literals, format > 0)
  return { literals, end }
}

function decodeStreams(bytes: Uint8Array, table: HuffmanTable, literals: Uint8Array, areFour: boolean): void {
  if (!areFour) {
    decodeHuffman(bytes, table, literals)
    return
  }
  if (literals.length < 6 || bytes.length < 10) throw damaged('four streams of literals are too short')
  const quarter = (literals.length + 3) >> 2
  let at = 6
  for (let i = 0; i < 4; i++) {
    const end = i === 3 ? bytes.length : at + (bytes[2 * i] ?? 0) + ((bytes[2 * i + 1] ?? 0) << 8)
    if (end > bytes.length) throw damaged('a stream of literals ends too late')
    decodeHuffman(
      bytes.subarray(at, end),
      table,
      literals.subarray(i * quarter, i === 3 ? undefined : (i + 1) * quarter),
    )
    at = end
  }
}

function readCount(block: Uint8Array, at: number): { count: number; at: number } {
  const [first = -1, second = 0, third = 0] = block.subarray(at, at + 3)
  if (first === -1) throw damaged('a block ends too early')
  if (first < 128) return { count: first, at: at + 1 }
  return first < 255
    ? { count: ((first - 128) << 8) + second, at: at + 2 }
    : { count: second + (third << 8) + 0x7f00, at: at + 3 }
}

interface Run {
  readonly count: number
  readonly state: BlockState
  readonly target: Target
  readonly literals: Uint8Array
  /** Where the content of the block has to end. */
  readonly last: number
}

/** Writes what the sequences say; the result is how many literals they took. */
function runSequences(block: Uint8Array, start: number, { count, state, target, literals, last }: Run): number {
  const at = readTables(block, start, state)
  const [lengths, offsets, matches] = state.tables
  if (lengths === undefined || offsets === undefined || matches === undefined)
    throw damaged('a block repeats a table that was not there')
  const bits = new BackwardBits(block.subarray(at))
  let length = bits.take(lengths.log)
  let offset = bits.take(offsets.log)
  let match = bits.take(matches.log)
  let taken = 0
  const { bytes } = target
  for (let i = 0; i < count; i++) {
    const offsetCode = offsets.symbols[offset] ?? 0
    const matchCode = matches.symbols[match] ?? 0
    const lengthCode = lengths.symbols[length] ?? 0
    const distance = 2 ** offsetCode + bits.take(offsetCode)
    const matchBytes = (matchBases[matchCode] ?? 0) + bits.take(matchBits[matchCode] ?? 0)
    const literalBytes = (lengthBases[lengthCode] ?? 0) + bits.take(lengthBits[lengthCode] ?? 0)
    if (i < count - 1) {
      length = (lengths.bases[length] ?? 0) + bits.take(lengths.bits[length] ?? 0)
      match = (matches.bases[match] ?? 0) + bits.take(matches.bits[match] ?? 0)
      offset = (offsets.bases[offset] ?? 0) + bits.take(offsets.bits[offset] ?? 0)
    }
    if (bits.left < 0) throw damaged('its sequences end too early')
    const back = backOf(distance, literalBytes, state)
    let size = target.size
    if (taken + literalBytes > literals.length || size + literalBytes + matchBytes > last)
      throw damaged('a sequence has too much content')
    for (let k = 0; k < literalBytes; k++) bytes[size++] = literals[taken++] ?? 0
    if (back === 0 || back > size - target.start || back > target.windowBytes)
      throw damaged('a sequence repeats what was not there')
    if (back >= matchBytes) bytes.copyWithin(size, size - back, size - back + matchBytes)
    else for (let k = 0; k < matchBytes; k++) bytes[size + k] = bytes[size + k - back] ?? 0
    target.size = size + matchBytes
  }
  if (bits.left !== 0) throw damaged('its sequences are longer than they say')
  return taken
}

// How far back: written as it is, or as one of the last three.
function backOf(value: number, literalBytes: number, { offsets }: BlockState): number {
  const [first, second, third] = offsets
  if (value > 3) {
    offsets[0] = value - 3
    offsets[1] = first
    offsets[2] = second
    return value - 3
  }
  const which = value - (literalBytes === 0 ? 0 : 1)
  if (which === 0) return first
  const back = which === 1 ? second : which === 2 ? third : first - 1
  if (which > 1) offsets[2] = second
  offsets[1] = first
  offsets[0] = back
  return back
}

function readTables(block: Uint8Array, start: number, state: BlockState): number {
  const modes = block[start] ?? 3
  if ((modes & 3) !== 0) throw damaged('a reserved bit of its sequences is set')
  let at = start + 1
  for (const [i, { most, mostLog, counts, log }] of kinds.entries()) {
    const mode = (modes >> (6 - 2 * i)) & 3
    if (mode === 0) state.tables[i] = fseTable(counts, log)
    else if (mode === 1) {
      const symbol = block[at++] ?? 255
      if (symbol > most) throw damaged('its sequences have a code that does not exist')
      state.tables[i] = constantTable(symbol)
    } else if (mode === 2) {
      const read = readFseTable(block, at, { mostLog, mostSymbol: most })
      state.tables[i] = read.table
      at = read.end
    }
  }
  return at
}

// Codes of lengths: the number itself, or where a range begins and how many bits say which of it. Tables of section 3.1.1.3.2.1.
const lengthBits = [...Array<number>(16).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
const matchBits = [...Array<number>(32).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
const lengthBases = basesOf(lengthBits, 0)
const matchBases = basesOf(matchBits, 3)

function basesOf(bits: readonly number[], first: number): number[] {
  let base = first
  return bits.map((width) => {
    base += 1 << width
    return base - (1 << width)
  })
}

const ones = (count: number, value = 1) => Array<number>(count).fill(value)

// The tables that both sides know, of section 3.1.1.3.2.2.
const kinds = [
  {
    most: 35,
    mostLog: 9,
    log: 6,
    counts: [4, 3, ...ones(11, 2), 1, 1, 1, ...ones(9, 2), 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
  },
  { most: 31, mostLog: 8, log: 5, counts: [...ones(6), 2, 2, 2, ...ones(15), ...ones(5, -1)] },
  { most: 52, mostLog: 9, log: 6, counts: [1, 4, 3, ...ones(6, 2), ...ones(37), ...ones(7, -1)] },
]
