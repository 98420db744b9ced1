// Which scores a progression chart shows. One that diverged would press all others into a line, so the axis ends where nearly all
// scores have their place; those beyond stand at the edge.
import type { SessionFigures } from '../figures/session-figures.ts'

export interface ProgressionRange {
  readonly low: number
  readonly high: number
  /** Scores that are worse than the axis goes. */
  readonly beyond: number
}

export function progressionRange({ placed, direction, noise }: SessionFigures): ProgressionRange | undefined {
  const sign = direction === 'max' ? 1 : -1
  // Badness: 0 is best, whatever the direction.
  const scores = placed.flatMap(({ score }) => score ?? [])
  if (scores.length === 0) return undefined
  const best = Math.max(...scores.map((score) => sign * score))
  const badness = (score: number) => best - sign * score
  const line = placed.flatMap(({ after }) => (after === undefined ? [] : badness(after)))
  const sorted = scores.map(badness).sort((a, b) => a - b)
  const usual = sorted[Math.floor(0.85 * (sorted.length - 1))] ?? 0
  const far = sorted.at(-1) ?? 0
  const needed = Math.max(usual, ...line)
  const worst = far > 1.6 * needed ? 1.15 * needed : far
  const margin = Math.max(0.06 * worst, 2 * (noise.seedSd ?? 0) < worst ? 2 * (noise.seedSd ?? 0) : 0)
  const ends = [sign * (best + margin), sign * (best - worst - 0.06 * worst)]
  return {
    low: Math.min(...ends),
    high: Math.max(...ends),
    beyond: sorted.filter((each) => each > worst * 1.06 + 1e-12).length,
  }
}
