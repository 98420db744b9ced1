import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyedRandom } from '../../kernel/index.ts'
import { fitScales, knobLikeness, type Observed, slopesOf, usualScales } from './additive-kernel.ts'
import { knobAxes } from './knob-axes.ts'
import { cholesky, solveLower } from './linear-algebra.ts'

const space = {
  a: { kind: 'choice', values: ['x', 'y', 'z'], ordered: false },
  b: { kind: 'choice', values: ['x', 'y', 'z'], ordered: false },
  c: { kind: 'choice', values: [1, 2, 3], ordered: true },
} as const
type Made = { readonly a: string; readonly b: string; readonly c: number }

function observed(made: readonly Made[], scores: readonly number[], seeds = made.map(() => 1)): Observed {
  const axes = knobAxes(
    Object.fromEntries(Object.entries(space).map(([name, spec]) => [name, { ...spec, values: [...spec.values] }])),
    [],
  )
  const points = made.map((knobs) => axes.describe({ ...knobs }))
  const pairs = (made.length * (made.length + 1)) / 2
  const parts = new Float64Array(pairs * (axes.count + 1))
  let at = 0
  for (const [i, a] of points.entries()) {
    for (const b of points.slice(0, i + 1)) axes.compare(a, b, parts, at++ * (axes.count + 1))
  }
  return { axes: axes.count, parts, besides: new Float64Array(pairs), seeds, scores: Float64Array.from(scores) }
}

function logLikelihood({ axes, parts, seeds, scores }: Observed, scales: Float64Array): number {
  const factor = cholesky(
    seeds.map((count, i) =>
      Float64Array.from({ length: i + 1 }, (_, j) => {
        const like = knobLikeness(parts, ((i * (i + 1)) / 2 + j) * (axes + 1), scales)
        return like + (i === j ? (scales.at(-1) ?? 0) / count : 0)
      }),
    ),
  )
  const half = solveLower(factor, scores).reduce((sum, value) => sum + value * value, 0) / 2
  return -half - factor.reduce((sum, row) => sum + Math.log(row.at(-1) ?? 1), 0)
}

const word = fc.constantFrom('x', 'y', 'z')
const run = fc.record({
  knobs: fc.record({ a: word, b: word, c: fc.constantFrom(1, 2, 3) }),
  score: fc.double({ min: -2, max: 2, noNaN: true }),
  seeds: fc.integer({ min: 1, max: 3 }),
})

describe('fitScales', () => {
  it('follows the slopes of the likelihood, which are those of finite differences (RES-112)', () => {
    const logs = fc.array(fc.double({ min: -2, max: 1, noNaN: true }), { minLength: 7, maxLength: 7 })
    fc.assert(
      fc.property(fc.array(run, { minLength: 2, maxLength: 7 }), logs, (runs, logs) => {
        const data = observed(
          runs.map(({ knobs }) => knobs),
          runs.map(({ score }) => score),
          runs.map(({ seeds }) => seeds),
        )
        const slopes = slopesOf(data, Float64Array.from(logs, Math.exp))
        for (const [i, slope] of slopes.entries()) {
          const at = (step: number) =>
            logLikelihood(data, Float64Array.from(logs.with(i, (logs[i] ?? 0) + step), Math.exp))
          const difference = (at(1e-5) - at(-1e-5)) / 2e-5
          expect(Math.abs(slope - difference)).toBeLessThan(1e-4 * (1 + Math.abs(difference)))
        }
      }),
      { numRuns: 40 },
    )
  })

  it('takes weight from knobs that do not matter and leaves it to the one that does (RES-112)', () => {
    const draw = keyedRandom(1, 'fit')
    const made = Array.from({ length: 40 }, () => ({
      a: draw.pick(space.a.values),
      b: draw.pick(space.b.values),
      c: draw.pick(space.c.values),
    }))
    const scales = fitScales(
      observed(
        made,
        made.map(({ b }) => (b === 'y' ? 1.2 : -0.6) + 0.1 * draw.normal()),
      ),
    )
    const [a = 0, b = 0, c = 0] = scales
    const [usual = 0] = usualScales(3)
    // Before the fit all three are alike; how large the one is that stays follows the spread of the scores.
    expect(b).toBeGreaterThan(usual / 2)
    expect(b).toBeGreaterThan(4 * Math.max(a, c))
    expect(scales.at(-1)).toBeLessThan(0.1)
  })

  it('stays at what is usual when the scores tell nothing (RES-112)', () => {
    const scales = fitScales(observed([{ a: 'x', b: 'x', c: 1 }], [0]))
    for (const [i, scale] of scales.entries()) {
      expect(scale).toBeGreaterThan((usualScales(3)[i] ?? 0) / 3)
      expect(scale).toBeLessThanOrEqual((usualScales(3)[i] ?? 0) * 1.5)
    }
  })
})

describe('knobAxes', () => {
  it('finds values again on other axes of the same choices (RES-112)', () => {
    const { parts, axes } = observed(
      [
        { a: 'x', b: 'y', c: 1 },
        { a: 'y', b: 'x', c: 1 },
        { a: 'z', b: 'z', c: 1 },
      ],
      [0, 0, 0],
    )
    const of = (i: number, j: number) => [...parts.subarray(((i * (i + 1)) / 2 + j) * (axes + 1)).slice(0, axes + 1)]
    expect(of(1, 0)).toEqual([0, 0, 1, 1 / 3]) // nothing in its place, both values on the other axis
    expect(of(2, 0)).toEqual([0, 0, 1, 0])
    expect(of(0, 0)).toEqual([1, 1, 1, 1 / 3])
  })
})
