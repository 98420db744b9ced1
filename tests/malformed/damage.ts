// Damage that fits any format: bytes, pieces and, where the text is JSON, values.
import type { KeyedRandom } from '../../src/kernel/index.ts'
import { damagedJson } from '../model-mutations.ts'
import type { Input } from './kinds.ts'

const debris = [
  ...['"', "'", '{', '}', '[', ']', ',', ':', '\\', '\n', '\r', '\t', '#', '- ', '&a ', '*a', '|', '---\n', '<<: *a'],
  ...[
    '\0',
    '\ud800',
    '\u202e',
    'NaN',
    '-0',
    '1e999',
    '99999999999999999999',
    '__proto__',
    'null',
    '\\ud800',
    '{%',
    '{{',
    '%}',
  ],
]

/** A damaged copy: bytes changed, a piece cut out, doubled or put elsewhere, foreign pieces put in, the end cut off. */
export function damaged(seed: Input, random: KeyedRandom): Input {
  if (typeof seed !== 'string') return damagedBytes(seed, random)
  if (random.int(3) === 0 && /^\s*[[{]/.test(seed)) {
    try {
      return damagedJson(seed, random)
    } catch {
      return seed.slice(0, random.int(seed.length)) // JSON Lines: no document as a whole
    }
  }
  let text = seed
  for (let changes = 1 + random.int(4); changes > 0; changes--) {
    const at = random.int(text.length + 1)
    const length = random.int(12)
    const piece = text.slice(at, at + random.int(200))
    const put = [debris[random.int(debris.length)] ?? '', piece, '', String.fromCharCode(random.int(0x3000))]
    text = text.slice(0, at) + put[random.int(put.length)] + text.slice(at + length)
  }
  return random.int(8) === 0 ? text.slice(0, random.int(text.length + 1)) : text
}

function damagedBytes(seed: Uint8Array, random: KeyedRandom): Uint8Array {
  const bytes = Buffer.from(seed)
  for (let changes = 1 + random.int(8); changes > 0 && bytes.length > 0; changes--) {
    const at = random.int(bytes.length)
    const change = random.int(4)
    if (change === 0) bytes[at] = random.int(256)
    else if (change === 1) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(8))
    else if (change === 2) bytes.fill([0, 0xff][random.int(2)] ?? 0, at, Math.min(bytes.length, at + random.int(16)))
    else bytes.copyWithin(at, random.int(bytes.length), random.int(bytes.length))
  }
  if (random.int(6) === 0) return bytes.subarray(0, random.int(bytes.length + 1))
  return random.int(10) === 0 ? Buffer.concat([bytes, bytes.subarray(0, random.int(bytes.length + 1))]) : bytes
}
