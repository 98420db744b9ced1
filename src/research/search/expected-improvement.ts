// What a candidate is worth trying: not its chance of being good, nor how good it would be, but their product (Jones, Schonlau and
// Welch 1998). A draw of chance per candidate, as in Thompson sampling, spends most runs on the luck of the draw when there are many.
import { normalCdf } from '../../stats/index.ts'

/** The logarithm of the expected gain of a normal belief over the best; finite however small the gain is. */
export function logExpectedImprovement(mean: number, sd: number, best: number): number {
  const spread = Math.max(sd, 1e-6)
  const z = (mean - best) / spread
  if (z < -6) return Math.log(spread) - (z * z) / 2 - Math.log(2 * Math.PI) / 2 + logTail(z)
  const density = Math.exp(-(z * z) / 2) / Math.sqrt(2 * Math.PI)
  return Math.log(spread) + Math.log(density + z * normalCdf(z))
}

// Far below, both terms vanish and their difference is lost: this is its share of the density, by the asymptotic series.
function logTail(z: number): number {
  const part = 1 / (z * z)
  return Math.log(part) + Math.log1p(-3 * part + 15 * part ** 2 - 105 * part ** 3)
}
