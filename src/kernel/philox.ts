// Philox4x32-10, a counter-based generator: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Its output
// is a function of key and counter alone, so any draw can be made without making those before it.

const multiplier0 = 0xd2511f53
const multiplier1 = 0xcd9e8d57
// Weyl constants: the golden ratio and the square root of 3 minus 1.
const bump0 = 0x9e3779b9
const bump1 = 0xbb67ae85

/** Four 32-bit words from a counter of four and a key of two. All words are signed; `out` may be `counter`. */
export function philox4x32(counter: Int32Array, key: Int32Array, out: Int32Array): void {
  let c0 = counter[0] ?? 0
  let c1 = counter[1] ?? 0
  let c2 = counter[2] ?? 0
  let c3 = counter[3] ?? 0
  let k0 = key[0] ?? 0
  let k1 = key[1] ?? 0
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(multiplier0, c0)
    const high1 = mulHigh(multiplier1, c2)
    const low0 = Math.imul(multiplier0, c0)
    const low1 = Math.imul(multiplier1, c2)
    c0 = high1 ^ c1 ^ k0
    c1 = low1
    c2 = high0 ^ c3 ^ k1
    c3 = low0
    k0 = (k0 + bump0) | 0
    k1 = (k1 + bump1) | 0
  }
  out[0] = c0
  out[1] = c1
  out[2] = c2
  out[3] = c3
}

// The upper half of a 64-bit product, by halves of 16 bits: every partial sum stays below 2^32.
function mulHigh(a: number, b: number): number {
  const aHigh = a >>> 16
  const aLow = a & 0xffff
  const bHigh = b >>> 16
  const bLow = b & 0xffff
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16)
  const cross = aLow * bHigh + (middle & 0xffff)
  return (aHigh * bHigh + (middle >>> 16) + (cross >>> 16)) | 0
}
