// MinHash: a text as a short signature, such that two signatures agree in about the share of parts that the texts have in common
// (their Jaccard similarity). Broder, "On the resemblance and containment of documents", 1997. Signatures depend on the text alone.
import { normalText, shinglesOf } from '../leaks/shingles.ts'

/** Values of a signature: the estimate of a similarity of 0.8 is off by 0.035 (one standard deviation). */
export const signatureLength = 128

// Odd multipliers and offsets of the permutations, from a fixed sequence (splitmix32): the same on every machine.
const multipliers = new Uint32Array(signatureLength)
const offsets = new Uint32Array(signatureLength)
let state = 0x9e3779b9
for (let i = 0; i < signatureLength; i++) {
  multipliers[i] = next() | 1
  offsets[i] = next()
}

function next(): number {
  state = (state + 0x9e3779b9) | 0
  return mixed(state)
}

// The finaliser of MurmurHash3: every bit of the input moves every bit of the result.
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

export function minHash(text: string): Uint32Array {
  const signature = new Uint32Array(signatureLength).fill(0xffffffff)
  for (const part of shinglesOf(normalText(text))) {
    for (let i = 0; i < signatureLength; i++) {
      const value = mixed((Math.imul(part, multipliers[i] ?? 1) + (offsets[i] ?? 0)) | 0)
      if (value < (signature[i] ?? 0)) signature[i] = value
    }
  }
  return signature
}

/** The share of values in which two signatures agree. */
export function agreement(a: Uint32Array, b: Uint32Array): number {
  let equal = 0
  for (let i = 0; i < signatureLength; i++) if (a[i] === b[i]) equal++
  return equal / signatureLength
}
