// What a log of research shows about itself: how much every kept change gained, and how much the score moves when nothing but
// the seed changes. A gain smaller than that may be luck.
import type { Direction } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { LogRow, LogStatus } from './read-results-log.ts'

/** What is needed of a row, from the log itself or from the record of its import. */
export type ScoredRow = Pick<LogRow, 'name' | 'description' | 'status'> & { readonly score: number | undefined }

export interface LogGains {
  readonly metric: string
  readonly direction: Direction
  readonly counts: Readonly<Record<LogStatus, number>>
  /** Scores of the first kept row, which is the baseline, and of the last. */
  readonly from: number | undefined
  readonly to: number | undefined
  /** Of every kept row after the first: improvement over the kept row before it. */
  readonly gains: readonly { readonly name: string; readonly gain: number }[]
  /** Root mean square of what a seed alone changed, and by which rows it is known. Absent: the log does not show it. */
  readonly noise?: { readonly size: number; readonly rows: readonly string[] }
  /** Gains below the noise, and their sum; absent without noise. */
  readonly lucky?: { readonly count: number; readonly sum: number }
}

/** Weighs the gains of a log. Without `direction` the kept rows tell which way is better. */
export function logGains(rows: readonly ScoredRow[], metric: string, direction?: Direction): LogGains {
  const kept = rows.flatMap(({ name, status, score }) =>
    status === 'keep' && score !== undefined ? [{ name, score }] : [],
  )
  const way = direction ?? directionOf(kept, metric)
  const sign = way === 'min' ? -1 : 1
  const gains = kept.slice(1).map(({ name, score }, i) => ({ name, gain: sign * (score - (kept[i]?.score ?? score)) }))
  const noise = noiseOf(rows)
  const below = noise === undefined ? undefined : gains.filter(({ gain }) => gain < noise.size)
  return {
    metric,
    direction: way,
    counts: countsOf(rows),
    from: kept[0]?.score,
    to: kept.at(-1)?.score,
    gains,
    ...(noise === undefined ? {} : { noise }),
    ...(below === undefined
      ? {}
      : { lucky: { count: below.length, sum: below.reduce((sum, { gain }) => sum + gain, 0) } }),
  }
}

// Rows are kept because they are better.
function directionOf(kept: readonly { score: number }[], metric: string): Direction {
  const steps = kept.slice(1).map(({ score }, i) => Math.sign(score - (kept[i]?.score ?? score)))
  const balance = steps.reduce((sum, step) => sum + step, 0)
  if (balance !== 0) return balance < 0 ? 'min' : 'max'
  throw new EvsysError('CLI_USAGE', `the kept rows do not tell whether a low or a high ${metric} is better`, {
    fix: 'say it: --direction min, or --direction max.',
  })
}

// The row differs from the kept row before it in its seed alone, so the difference of their scores is noise.
function noiseOf(rows: readonly ScoredRow[]): LogGains['noise'] {
  const moves: { name: string; move: number }[] = []
  let incumbent: number | undefined
  for (const { name, description, status, score } of rows) {
    if (score !== undefined && incumbent !== undefined && changesSeedAlone(description)) {
      moves.push({ name, move: score - incumbent })
    }
    if (status === 'keep' && score !== undefined) incumbent = score
  }
  if (moves.length === 0) return undefined
  const size = Math.sqrt(moves.reduce((sum, { move }) => sum + move ** 2, 0) / moves.length)
  return { size, rows: moves.map(({ name }) => name) }
}

/** "random seed 42 to 137", "only the seed changed", "rerun with another seed": nothing but a seed is named. */
export function changesSeedAlone(description: string): boolean {
  const words = description.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  return words.some((word) => /^seeds?$/.test(word)) && words.every((word) => besideSeed.test(word))
}

const besideSeed =
  /^(?:seeds?|random|rng|torch|numpy|global|training|init|new|other|another|different|fresh|only|just|the|a|from|to|of|with|and|change[ds]?|changing|re|run|rerun|repeat(?:ed)?|again|same|config|baseline|control|noise|check|\d+)$/

function countsOf(rows: readonly { status: LogStatus }[]): Record<LogStatus, number> {
  const count = (status: LogStatus) => rows.filter((row) => row.status === status).length
  return { keep: count('keep'), discard: count('discard'), crash: count('crash') }
}
