// Signatures that were seen, and whether a new one is close to one of them. Locality-sensitive hashing: signatures are cut into bands,
// and only those that share a band are compared (Leskovec et al., "Mining of Massive Datasets", 3.4). Memory is bounded: of two
// generations the older is forgotten when the younger is full.

// MinHash: a text as a short signature, such that two signatures agree in about the share of parts that the texts have in common
// (their Jaccard similarity). Broder, "On the resemblance and containment of documents", 1997. Signatures depend on the text alone.
/** Values of a signature: the estimate of a similarity of 0.8 is off by 0.035 (one standard deviation). */
const signatureLength = 128

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

interface NearIndex {
  /** Whether a signature that was added agrees with this one in `threshold` of its values or more. */
  has(signature: Uint32Array): boolean
  add(signature: Uint32Array): void
}

/** Remembers the last `window` signatures at most, and half as many at least. */
export function createNearIndex({ threshold, window }: { threshold: number; window: number }): NearIndex {
  const rows = rowsPerBand(threshold)
  const capacity = Math.max(1, Math.ceil(window / 2))
  let young = new Generation(rows)
  let old = new Generation(rows)
  return {
    has: (signature) => young.has(signature, threshold) || old.has(signature, threshold),
    add(signature) {
      if (young.size === capacity) {
        old = young
        young = new Generation(rows)
      }
      young.add(signature)
    },
  }
}

/** The longest bands with which texts at the threshold still meet in one of them 99 times in 100. */
export function rowsPerBand(threshold: number): number {
  for (let rows = 16; rows > 1; rows--) {
    const bands = Math.floor(signatureLength / rows)
    if (1 - (1 - threshold ** rows) ** bands >= 0.99) return rows
  }
  return 1
}

const firstCapacity = 1024

class Generation {
  readonly #rows: number
  readonly #bands: number
  #size = 0
  #signatures = new Uint32Array(firstCapacity * signatureLength)
  // A chained hash table in typed arrays: first entry of each bucket, and the next one of each entry; 0 is none.
  #heads: Int32Array
  #next: Int32Array

  constructor(rows: number) {
    this.#rows = rows
    this.#bands = Math.floor(signatureLength / rows)
    this.#heads = new Int32Array(powerOfTwo(firstCapacity * this.#bands))
    this.#next = new Int32Array(firstCapacity * this.#bands)
  }

  get size(): number {
    return this.#size
  }

  has(signature: Uint32Array, threshold: number): boolean {
    const compared = new Set<number>()
    for (let band = 0; band < this.#bands; band++) {
      let entry = this.#heads[this.#bucket(signature, 0, band)] ?? 0
      for (; entry !== 0; entry = this.#next[entry - 1] ?? 0) {
        const at = Math.floor((entry - 1) / this.#bands)
        if (compared.has(at)) continue
        compared.add(at)
        const start = at * signatureLength
        if (agreement(signature, this.#signatures.subarray(start, start + signatureLength)) >= threshold) return true
      }
    }
    return false
  }

  add(signature: Uint32Array): void {
    if ((this.#size + 1) * signatureLength > this.#signatures.length) this.#grow()
    this.#signatures.set(signature, this.#size * signatureLength)
    this.#link(this.#size)
    this.#size++
  }

  #link(at: number): void {
    for (let band = 0; band < this.#bands; band++) {
      const bucket = this.#bucket(this.#signatures, at * signatureLength, band)
      const entry = at * this.#bands + band
      this.#next[entry] = this.#heads[bucket] ?? 0
      this.#heads[bucket] = entry + 1
    }
  }

  #bucket(values: Uint32Array, start: number, band: number): number {
    let hash = band + 1
    for (let row = 0; row < this.#rows; row++) {
      hash = Math.imul(hash ^ (values[start + band * this.#rows + row] ?? 0), 0x01000193)
      hash ^= hash >>> 15
    }
    return (hash >>> 0) & (this.#heads.length - 1)
  }

  #grow(): void {
    const capacity = (this.#signatures.length / signatureLength) * 2
    const signatures = new Uint32Array(capacity * signatureLength)
    signatures.set(this.#signatures)
    this.#signatures = signatures
    this.#heads = new Int32Array(powerOfTwo(capacity * this.#bands))
    this.#next = new Int32Array(capacity * this.#bands)
    for (let at = 0; at < this.#size; at++) this.#link(at)
  }
}

function powerOfTwo(least: number): number {
  return 2 ** Math.ceil(Math.log2(least))
}

// Text as the set of its parts, for comparing texts that are not quite equal. Case, punctuation and spacing do not count; digits
// do, since "12 + 34" and "12 + 35" are different questions.
/** Characters of a part: shorter ones are shared by chance, longer ones miss a changed word. */
const size = 5
const space = 32

/** Letters and digits of a text, in lower case, with single spaces between them. */
export function normalText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** The parts of a normal text as 32-bit hashes. A text shorter than one part is one. */
export function shinglesOf(normal: string): Set<number> {
  const parts = new Set<number>()
  // Copied first: in a text that was put together V8 may look for each character by writing all of it anew.
  const codes = new Uint16Array(normal.length + 2).fill(space) // so that the beginning and the end of words count
  for (let at = 0; at < normal.length; at++) codes[at + 1] = normal.charCodeAt(at)
  const last = Math.max(0, codes.length - size)
  for (let start = 0; start <= last; start++) {
    // FNV-1a over UTF-16 units.
    let hash = 0x811c9dc5
    for (let at = start; at < start + size && at < codes.length; at++) {
      hash = Math.imul(hash ^ (codes[at] ?? 0), 0x01000193)
    }
    parts.add(hash >>> 0)
  }
  return parts
}
