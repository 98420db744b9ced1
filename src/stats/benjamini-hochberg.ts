// The step-up procedure of Benjamini and Hochberg (1995) bounds the expected share of false claims among those made: for long lists
// of ideas to follow up, not for what is announced.

import { ascending, requireProbabilities } from './holm.ts'

/** Adjusted p-values in the order given: keeping those <= q holds the false discovery rate at q for independent tests. */
export function benjaminiHochberg(pValues: readonly number[]): number[] {
  requireProbabilities(pValues)
  const m = pValues.length
  const adjusted = new Array<number>(m)
  let running = 1
  for (const [above, { p, index }] of ascending(pValues).reverse().entries()) {
    running = Math.min(running, (m / (m - above)) * p)
    adjusted[index] = running
  }
  return adjusted
}
