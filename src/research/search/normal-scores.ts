// Scores differ by tasks in scale, skew and tails (a diverged run is worse than any other by orders of magnitude). Their ranks do
// not: the model sees the normal quantile of a rank, so that no scale needs tuning.
import { normalQuantile } from '../../stats/index.ts'

/** The normal quantile of the rank of each value, more is better; equals share theirs, and mean and variance are 0 and 1. */
export function normalScores(values: readonly number[]): Float64Array {
  const n = values.length
  const order = values.map((_, place) => place).sort((a, b) => (values[a] as number) - (values[b] as number) || a - b)
  const scores = new Float64Array(n)
  for (let from = 0; from < n; ) {
    let to = from + 1
    while (to < n && values[order[to] as number] === values[order[from] as number]) to++
    const score = normalQuantile((from + to) / 2 / n)
    for (let rank = from; rank < to; rank++) scores[order[rank] as number] = score
    from = to
  }
  let squares = 0
  let sum = 0
  for (const score of scores) sum += score
  for (let i = 0; i < n; i++) {
    const centred = (scores[i] as number) - sum / n
    scores[i] = centred
    squares += centred * centred
  }
  const scale = squares > 0 ? Math.sqrt(n / squares) : 1
  return scores.map((score) => score * scale)
}
