// The two codes of zstd (RFC 8878, section 4): finite state entropy and Huffman. Every table is complete, so that no bits of a damaged
// frame lead out of one, and every stream has to end exactly where its bytes do.
import { damaged } from './zstd-fault.ts'

/** Bits from the last to the first, as zstd writes what it codes. Before the first there are zeros. */
export class BackwardBits {
  readonly #bytes: Uint8Array
  /** How many are left; negative: more were taken than there are. */
  left: number

  constructor(bytes: Uint8Array) {
    const last = bytes[bytes.length - 1] ?? 0
    if (last === 0) throw damaged('a stream of bits has no end')
    this.#bytes = bytes
    this.left = bytes.length * 8 - 8 + highestBit(last)
  }

  take(count: number): number {
    if (count > 16) return this.take(count - 16) * 65_536 + this.take(16)
    const bits = this.peek(count)
    this.left -= count
    return bits
  }

  /** At most 16. */
  peek(count: number): number {
    const at = this.left - count
    if (at < 0) return at <= -16 ? 0 : (this.#from(0) << -at) & ((1 << count) - 1)
    return (this.#from(at >> 3) >>> (at & 7)) & ((1 << count) - 1)
  }

  #from(byte: number): number {
    const bytes = this.#bytes
    return (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16)
  }
}

function highestBit(value: number): number {
  return 31 - Math.clz32(value)
}

/** For each state its symbol, and the state that follows: `base` and so many more bits. */
export interface FseTable {
  readonly log: number
  readonly symbols: Uint8Array
  readonly bits: Uint8Array
  readonly bases: Uint16Array
}

/** Reads the counts of a table; `end` is where they end. */
export function readFseTable(
  bytes: Uint8Array,
  start: number,
  { mostLog, mostSymbol }: { mostLog: number; mostSymbol: number },
): { table: FseTable; end: number } {
  let at = start * 8
  const take = (count: number): number => {
    const byte = at >> 3
    const bits = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16)
    at += count
    return (bits >>> ((at - count) & 7)) & ((1 << count) - 1)
  }
  const log = take(4) + 5
  if (log > mostLog) throw damaged('a table is larger than it may be')
  const counts: number[] = []
  for (let rest = 1 << log; rest > 0; ) {
    const width = highestBit(rest + 1) + 1
    const small = (1 << width) - 2 - rest // as many values take one bit less
    let value = take(width - 1)
    if (value >= small) {
      value += take(1) << (width - 1)
      if (value >= 1 << (width - 1)) value -= small
    }
    const count = value - 1 // -1: less than one
    rest -= Math.abs(count)
    counts.push(count)
    for (let more = count === 0 ? 3 : 0; more === 3; ) {
      more = take(2)
      for (let i = 0; i < more; i++) counts.push(0)
    }
    if (rest < 0 || counts.length > mostSymbol + 1 || at > bytes.length * 8) throw damaged('a table has wrong counts')
  }
  return { table: fseTable(counts, log), end: (at + 7) >> 3 }
}

export function fseTable(counts: readonly number[], log: number): FseTable {
  const size = 1 << log
  const symbols = new Uint8Array(size)
  const bits = new Uint8Array(size)
  const bases = new Uint16Array(size)
  let high = size
  for (const [symbol, count] of counts.entries()) if (count === -1) symbols[--high] = symbol
  const step = (size >> 1) + (size >> 3) + 3
  let at = 0
  for (const [symbol, count] of counts.entries()) {
    for (let i = 0; i < count; i++) {
      symbols[at] = symbol
      do at = (at + step) & (size - 1)
      while (at >= high && high > 0)
    }
  }
  const next = counts.map((count) => Math.abs(count))
  for (let state = 0; state < size; state++) {
    const symbol = symbols[state] ?? 0
    const number = next[symbol] ?? 1
    next[symbol] = number + 1
    const width = log - highestBit(number)
    bits[state] = width
    bases[state] = (number << width) - size
  }
  return { log, symbols, bits, bases }
}

/** One symbol that takes no bits. */
export function constantTable(symbol: number): FseTable {
  return { log: 0, symbols: Uint8Array.of(symbol), bits: Uint8Array.of(0), bases: Uint16Array.of(0) }
}

export interface HuffmanTable {
  readonly log: number
  /** By the next `log` bits: the symbol, and how many of the bits are its own. */
  readonly symbols: Uint8Array
  readonly bits: Uint8Array
}

const mostHuffmanBits = 11

export function readHuffmanTable(bytes: Uint8Array, start: number): { table: HuffmanTable; end: number } {
  const head = bytes[start] ?? 0
  const isPlain = head >= 128
  const end = start + 1 + (isPlain ? (head - 126) >> 1 : head)
  if (end > bytes.length) throw damaged('a table ends too early')
  const weights = isPlain
    ? Array.from({ length: head - 127 }, (_, i) => ((bytes[start + 1 + (i >> 1)] ?? 0) >> (i % 2 === 0 ? 4 : 0)) & 15)
    : codedWeights(bytes.subarray(start + 1, end))
  return { table: huffmanTable(weights), end }
}

function codedWeights(bytes: Uint8Array): number[] {
  const { table, end } = readFseTable(bytes, 0, { mostLog: 6, mostSymbol: 12 })
  const bits = new BackwardBits(bytes.subarray(end))
  const states = [bits.take(table.log), bits.take(table.log)]
  const weights: number[] = []
  for (let turn = 0; ; turn = 1 - turn) {
    if (weights.length > 254) throw damaged('a table has too many weights')
    const state = states[turn] ?? 0
    weights.push(table.symbols[state] ?? 0)
    states[turn] = (table.bases[state] ?? 0) + bits.take(table.bits[state] ?? 0)
    if (bits.left < 0) return [...weights, table.symbols[states[1 - turn] ?? 0] ?? 0]
  }
}

// The last weight is not written: it completes the sum to a power of two.
function huffmanTable(written: readonly number[]): HuffmanTable {
  const sum = written.reduce((all, weight) => all + ((1 << weight) >> 1), 0)
  const log = highestBit(sum) + 1
  const rest = (1 << log) - sum
  if (sum === 0 || log > mostHuffmanBits || (rest & (rest - 1)) !== 0) throw damaged('a table has wrong weights')
  const weights = [...written, highestBit(rest) + 1]
  const longest = weights.filter((weight) => weight === 1).length
  if (longest < 2 || longest % 2 !== 0) throw damaged('a table has wrong weights')
  const symbols = new Uint8Array(1 << log)
  const bits = new Uint8Array(1 << log)
  let at = 0
  for (let weight = 1; weight <= log; weight++) {
    for (const [symbol, each] of weights.entries()) {
      if (each !== weight) continue
      const after = at + (1 << (weight - 1))
      symbols.fill(symbol, at, after)
      bits.fill(log + 1 - weight, at, after)
      at = after
    }
  }
  return { log, symbols, bits }
}

/** Fills `target` from one stream. */
export function decodeHuffman(bytes: Uint8Array, { log, symbols, bits }: HuffmanTable, target: Uint8Array): void {
  const stream = new BackwardBits(bytes)
  for (let i = 0; i < target.length; i++) {
    const index = stream.peek(log)
    target[i] = symbols[index] ?? 0
    stream.left -= bits[index] ?? 0
  }
  if (stream.left !== 0) throw damaged('a stream of literals has another length than it says')
}
