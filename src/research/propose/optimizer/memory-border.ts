// Where memory runs out, learned from the candidates for which it did. Memory is mostly a product of sizes; knobs that go by factors
// lie on a line by their logarithm, so the border is near a plane: a logistic regression with a weak prior.

import type { Point } from './knob-space.ts'
import { cholesky, solveCholesky } from './linear-algebra.ts'

const steep = 6 // of coordinates: a line of length 1 covers a factor of a hundred or so
const prior: number = 0.05
const rounds = 25

/** The chance that a point runs out of memory; 0 while none did. */
export function fitMemoryBorder(
  runs: readonly { readonly point: Point; readonly ranOut: boolean }[],
  centre: Point,
): (point: Point) => number {
  if (!runs.some(({ ranOut }) => ranOut)) return () => 0
  const row = (point: Point) => [1, ...point.map((value, i) => steep * (value - (centre[i] ?? 0)))]
  const rows = runs.map(({ point }) => row(point))
  const size = rows[0]?.length ?? 1
  let weights = new Array<number>(size).fill(0)
  const chance = (values: readonly number[]) => {
    const z = values.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0)
    return 1 / (1 + Math.exp(-Math.min(30, Math.max(-30, z))))
  }
  for (let round = 0; round < rounds; round++) {
    const gradient = weights.map((weight) => prior * weight)
    const hessian = weights.map((_, i) => weights.map((__, j): number => (i === j ? prior : 0)))
    for (const [place, values] of rows.entries()) {
      const p = chance(values)
      const error = p - (runs[place]?.ranOut ? 1 : 0)
      const curve = Math.max(p * (1 - p), 1e-4)
      for (let i = 0; i < size; i++) {
        const left = values[i] ?? 0
        gradient[i] = (gradient[i] ?? 0) + error * left
        const line = hessian[i] ?? []
        for (let j = 0; j < size; j++) line[j] = (line[j] ?? 0) + curve * left * (values[j] ?? 0)
      }
    }
    const step = solveCholesky(cholesky(hessian), gradient)
    weights = weights.map((weight, i) => weight - (step[i] ?? 0))
  }
  return (point) => chance(row(point))
}
