// How alike two candidates are by their knobs, as effects that they share: of single knobs, of pairs, of triples (Duvenaud, Nickisch
// and Rasmussen 2011, additive Gaussian processes), and of values wherever they stand. Each has its scale; those of the knobs also
// weigh them in pairs and triples.

/** Numbers of a kernel over some axes: a scale per axis, then of pairs, of triples, of values wherever they stand, and the noise. */
export type Scales = Float64Array

/** Places of a scale after those of the axes. */
const placeAfter = { pairs: 0, triples: 1, shared: 2, noise: 3 } as const

/** What is expected before anything was measured, beside a variance of scores of 1. */
export function usualScales(axes: number): Scales {
  const scales = new Float64Array(axes + 4).fill(1 / axes, 0, axes)
  scales[axes + placeAfter.pairs] = 1
  scales[axes + placeAfter.triples] = 0.3
  scales[axes + placeAfter.shared] = 0.3
  scales[axes + placeAfter.noise] = 0.15
  return scales
}

/** `parts` at a place: how alike on each axis, then on all axes of the same choices. `slopes`: by the logarithm of every scale. */
export function knobLikeness(parts: Float64Array, at: number, scales: Scales, slopes?: Float64Array): number {
  const axes = scales.length - 4
  let sum = 0
  let squares = 0
  let cubes = 0
  for (let axis = 0; axis < axes; axis++) {
    const part = (scales[axis] as number) * (parts[at + axis] as number) // a part per axis, and one more
    sum += part
    squares += part * part
    cubes += part * part * part
  }
  // Sums over pairs and triples by Newton's identities.
  const pairs = (sum * sum - squares) / 2
  const triples = (sum * sum * sum - 3 * sum * squares + 2 * cubes) / 6
  const ofPairs = scales[axes + placeAfter.pairs] as number
  const ofTriples = scales[axes + placeAfter.triples] as number
  const shared = (scales[axes + placeAfter.shared] as number) * (parts[at + axes] as number)
  if (slopes !== undefined) {
    for (let axis = 0; axis < axes; axis++) {
      const part = (scales[axis] as number) * (parts[at + axis] as number)
      slopes[axis] = part * (1 + ofPairs * (sum - part) + ofTriples * (pairs - part * (sum - part)))
    }
    slopes[axes + placeAfter.pairs] = ofPairs * pairs
    slopes[axes + placeAfter.triples] = ofTriples * triples
    slopes[axes + placeAfter.shared] = shared
  }
  return sum + ofPairs * pairs + ofTriples * triples + shared
}
