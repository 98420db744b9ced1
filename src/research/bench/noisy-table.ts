// From merits to a table of finished trainings: seeds scatter around the merit of a configuration, more among the bad, and a part of
// what a seed does is the same for all.
import type { KeyedRandom } from '../../kernel/index.ts'
import type { SearchTable } from './search-table.ts'
import { tableTruth } from './table-truth.ts'

/** Share of the variance of a seed that is the same for all configurations. */
const sharedShare = 0.2
/** A configuration at the bottom has this many times the noise of one at the top. */
const bottomNoise = 3

/** Which of the tables that can be made. */
export type MadeTable = { readonly seed: number; readonly place: number }

export interface NoisyTableOptions {
  readonly name: string
  readonly axes: SearchTable['axes']
  /** Of every configuration, more is better. */
  readonly merits: Float64Array
  readonly seeds: number
  /** From the median of the best 1 % to the target, in standard deviations of a seed. */
  readonly gap: number
  readonly draw: KeyedRandom
}

export function noisyTable({ name, axes, merits, seeds, gap, draw }: NoisyTableOptions): SearchTable {
  const table = { name, direction: 'max' as const, axes }
  const { target } = tableTruth({ ...table, seeds: 1, values: Float32Array.from(merits) })
  const sorted = Float64Array.from(merits).sort()
  const middle = sorted[Math.floor(merits.length * 0.995)] ?? target
  const low = sorted[Math.floor(merits.length * 0.05)] ?? middle
  const sd = (target - middle) / gap
  const offsets = Array.from({ length: seeds }, () => Math.sqrt(sharedShare) * sd * draw.normal())
  const values = new Float32Array(merits.length * seeds)
  for (const [config, merit] of merits.entries()) {
    const depth = Math.min(1, Math.max(0, (middle - merit) / (middle - low)))
    const own = Math.sqrt(1 - sharedShare) * sd * (1 + (bottomNoise - 1) * depth)
    for (let seed = 0; seed < seeds; seed++) {
      values[config * seeds + seed] = merit + (offsets[seed] ?? 0) + own * draw.normal()
    }
  }
  return { ...table, seeds, values }
}
