// NK landscapes (Kauffman 1993): the merit of N bits is the mean of N parts, each a random function of its bit and K others. K = 0
// is a smooth hill; the larger K, the more false peaks.
import { keyedRandom } from '../../kernel/index.ts'
import type { SearchTable } from './search-table.ts'
import { tableTruth } from './table-truth.ts'

const seeds = 3
/** Noise of a seed, beside the gap from the good to the target. */
const noiseOfGap = 0.5

export function nkTable({
  n,
  k,
  seed,
}: {
  readonly n: number
  readonly k: number
  readonly seed: number
}): SearchTable {
  if (!(n >= 2 && n <= 20 && k >= 0 && k < n)) throw new RangeError(`no NK landscape has N = ${n} and K = ${k}`)
  const draw = keyedRandom(seed, 'nk', n, k)
  const parts = Array.from({ length: n }, (_, bit) => ({
    bits: [
      bit,
      ...draw.shuffle(Array.from({ length: n }, (_, other) => other).filter((other) => other !== bit)).slice(0, k),
    ],
    merits: Float64Array.from({ length: 2 ** (k + 1) }, () => draw.float()),
  }))
  const merits = new Float64Array(2 ** n)
  for (let config = 0; config < merits.length; config++) {
    let sum = 0
    for (const { bits, merits } of parts) {
      let state = 0
      for (const bit of bits) state = 2 * state + ((config >> bit) & 1)
      sum += merits[state] ?? 0
    }
    merits[config] = sum / n
  }
  const table = {
    name: `nk-${n}-${k}`,
    direction: 'max' as const,
    seeds,
    // Row-major: the first axis is the highest bit.
    axes: Array.from({ length: n }, (_, axis) => ({ name: `bit${n - 1 - axis}`, values: [false, true] })),
  }
  const exact = tableTruth({ ...table, seeds: 1, values: Float32Array.from(merits) })
  const sorted = Float64Array.from(merits).sort().reverse()
  const sd = noiseOfGap * (exact.target - (sorted[Math.floor(merits.length / 200)] ?? 0))
  const values = new Float32Array(merits.length * seeds)
  for (let i = 0; i < values.length; i++) values[i] = (merits[Math.floor(i / seeds)] ?? 0) + sd * draw.normal()
  return { ...table, values }
}
