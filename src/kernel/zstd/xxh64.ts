// XXH64 with seed 0, the checksum of zstd frames: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md. In two halves of 32
// bits, since big integers take ten times as long.

/** The low 32 bits of the hash, which is what a frame keeps of it. */
export function xxh64(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  let hash: Word = prime5
  if (bytes.length >= 32) {
    const lanes = [add(prime1, prime2), prime2, zero, negated(prime1)].map(([hi, lo]) => Int32Array.of(hi, lo))
    const [a, b, c, d] = lanes as [Int32Array, Int32Array, Int32Array, Int32Array]
    for (; at + 32 <= bytes.length; at += 32) {
      stir(a, view, at)
      stir(b, view, at + 8)
      stir(c, view, at + 16)
      stir(d, view, at + 24)
    }
    hash = [1, 7, 12, 18].reduce<Word>((sum, by, i) => add(sum, rotated(word(lanes[i]), by)), zero)
    for (const lane of lanes) hash = add(times(xor(hash, round(zero, word(lane))), prime1), prime4)
  }
  hash = add(hash, [Math.floor(bytes.length / 2 ** 32), bytes.length | 0])
  for (; at + 8 <= bytes.length; at += 8) {
    const next: Word = [view.getInt32(at + 4, true), view.getInt32(at, true)]
    hash = add(times(rotated(xor(hash, round(zero, next)), 27), prime1), prime4)
  }
  if (at + 4 <= bytes.length) {
    hash = add(times(rotated(xor(hash, times([0, view.getInt32(at, true)], prime1)), 23), prime2), prime3)
    at += 4
  }
  for (; at < bytes.length; at++) {
    hash = times(rotated(xor(hash, times([0, view.getUint8(at)], prime5)), 11), prime1)
  }
  hash = times(xor(hash, shifted(hash, 33)), prime2)
  hash = times(xor(hash, shifted(hash, 29)), prime3)
  return xor(hash, shifted(hash, 32))[1] >>> 0
}

/** 64 bits: the high half, the low half. */
type Word = readonly [hi: number, lo: number]

const [hi1, lo1] = [0x9e3779b1, 0x85ebca87]
const [hi2, lo2] = [0xc2b2ae3d, 0x27d4eb4f]
const zero: Word = [0, 0]
const prime1: Word = [hi1, lo1]
const prime2: Word = [hi2, lo2]
const prime3: Word = [0x165667b1, 0x9e3779f9]
const prime4: Word = [0x85ebca77, 0xc2b2ae63]
const prime5: Word = [0x27d4eb2f, 0x165667c5]

// `round` in place and without arrays: nearly all of the time is spent here.
function stir(lane: Int32Array, view: DataView, at: number): void {
  const inLo = view.getInt32(at, true)
  const inHi = view.getInt32(at + 4, true)
  const addLo = Math.imul(inLo, lo2)
  const addHi = (highOf(inLo, lo2) + Math.imul(inLo, hi2) + Math.imul(inHi, lo2)) | 0
  const lo = ((lane[1] ?? 0) + addLo) | 0
  const hi = ((lane[0] ?? 0) + addHi + (lo >>> 0 < addLo >>> 0 ? 1 : 0)) | 0
  const turnedHi = (hi << 31) | (lo >>> 1)
  const turnedLo = (lo << 31) | (hi >>> 1)
  lane[0] = (highOf(turnedLo, lo1) + Math.imul(turnedLo, hi1) + Math.imul(turnedHi, lo1)) | 0
  lane[1] = Math.imul(turnedLo, lo1)
}

function round(lane: Word, input: Word): Word {
  return times(rotated(add(lane, times(input, prime2)), 31), prime1)
}

/** The high half of the product of two halves. */
function highOf(a: number, b: number): number {
  const aLo = a & 0xffff
  const aHi = a >>> 16
  const bLo = b & 0xffff
  const bHi = b >>> 16
  const middle = aHi * bLo + ((aLo * bLo) >>> 16)
  const other = aLo * bHi + (middle & 0xffff)
  return (aHi * bHi + (middle >>> 16) + (other >>> 16)) | 0
}

function times([aHi, aLo]: Word, [bHi, bLo]: Word): Word {
  return [(highOf(aLo, bLo) + Math.imul(aLo, bHi) + Math.imul(aHi, bLo)) | 0, Math.imul(aLo, bLo)]
}

function add([aHi, aLo]: Word, [bHi, bLo]: Word): Word {
  const lo = (aLo + bLo) | 0
  return [(aHi + bHi + (lo >>> 0 < bLo >>> 0 ? 1 : 0)) | 0, lo]
}

function negated([hi, lo]: Word): Word {
  return add([~hi, ~lo], [0, 1])
}

function xor([aHi, aLo]: Word, [bHi, bLo]: Word): Word {
  return [aHi ^ bHi, aLo ^ bLo]
}

function rotated([hi, lo]: Word, by: number): Word {
  return [(hi << by) | (lo >>> (32 - by)), (lo << by) | (hi >>> (32 - by))]
}

function shifted([hi, lo]: Word, by: number): Word {
  return by === 32 ? [0, hi] : by > 32 ? [0, hi >>> (by - 32)] : [hi >>> by, (hi << (32 - by)) | (lo >>> by)]
}

function word(lane: Int32Array = Int32Array.of(0, 0)): Word {
  return [lane[0] ?? 0, lane[1] ?? 0]
}
