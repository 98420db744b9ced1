// Several claims at once. Holm's step-down (1979) bounds the chance of even one false claim, whatever the dependence between them.

/** Adjusted p-values in the order given: claim i stands at level alpha when adjusted[i] <= alpha. */
export function holm(pValues: readonly number[]): number[] {
  requireProbabilities(pValues)
  const m = pValues.length
  const adjusted = new Array<number>(m)
  let running = 0
  for (const [rank, { p, index }] of ascending(pValues).entries()) {
    running = Math.max(running, Math.min(1, (m - rank) * p))
    adjusted[index] = running
  }
  return adjusted
}

/** P-values with their places, smallest first; ties keep their order. */
export function ascending(pValues: readonly number[]): { p: number; index: number }[] {
  return pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p)
}

/** Throws a RangeError unless every value is a probability. */
function requireProbabilities(pValues: readonly number[]): void {
  const wrong = pValues.find((p) => !(p >= 0 && p <= 1))
  if (wrong !== undefined) throw new RangeError(`a p-value must lie in [0, 1], not ${wrong}`)
}
