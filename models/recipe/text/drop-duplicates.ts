// Paragraphs that were there before go, the same ones and nearly the same ones. Nearly: by MinHash over runs of four words
// (Broder, 1997), with bands that bring together what is likely similar, and the estimate itself as the judge.

const numHashes = 24
const rowsPerBand = 3
const shingle = 4

/** Tells, paragraph by paragraph, whether something like it was there before. */
export function createDuplicateFilter({ similarity = 0.7 }: { similarity?: number } = {}): (text: string) => boolean {
  const exact = new Set<string>()
  const bands = new Map<number, Uint32Array[]>()
  return (text) => {
    const plain = text.toLowerCase().replace(/[^a-z0-9 ]/g, '')
    if (exact.has(plain)) return true
    exact.add(plain)
    const words = plain.split(/ +/)
    if (words.length < 2 * shingle) return false
    const signature = minHash(words)
    const keys = Array.from({ length: numHashes / rowsPerBand }, (_, band) => bandKey(signature, band))
    for (const key of keys) {
      if (bands.get(key)?.some((other) => agreement(signature, other) >= similarity)) return true
    }
    for (const key of keys) {
      const bucket = bands.get(key)
      if (bucket === undefined) bands.set(key, [signature])
      else if (bucket.length < 50) bucket.push(signature)
    }
    return false
  }
}

function minHash(words: readonly string[]): Uint32Array {
  const hashes = words.map(hashOf)
  const signature = new Uint32Array(numHashes).fill(0xffffffff)
  for (let at = 0; at + shingle <= hashes.length; at++) {
    let mixed = 0
    for (let next = at; next < at + shingle; next++)
      mixed = Math.imul(mixed ^ (hashes[next] ?? 0), 0x9e3779b1) + 0x7f4a7c15
    for (let n = 0; n < numHashes; n++) {
      const value = scrambled(mixed + Math.imul(n + 1, 0x85ebca6b))
      if (value < (signature[n] ?? 0)) signature[n] = value
    }
  }
  return signature
}

function bandKey(signature: Uint32Array, band: number): number {
  let key = band
  for (let row = 0; row < rowsPerBand; row++) key = scrambled(key ^ (signature[band * rowsPerBand + row] ?? 0))
  return key * 8 + (band % 8)
}

function agreement(a: Uint32Array, b: Uint32Array): number {
  let equal = 0
  for (let n = 0; n < numHashes; n++) if (a[n] === b[n]) equal++
  return equal / numHashes
}

function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

function scrambled(value: number): number {
  let x = Math.imul(value ^ (value >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}
