import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyState } from '../../../tests/search-states.ts'
import type { CandidateIdea, SearchState } from '../../contracts/index.ts'
import { attemptModel, normalScores } from './attempt-model.ts'
import { cholesky, inverse, solveCholesky } from './linear-algebra.ts'

const candidate: CandidateIdea = {
  idea: {
    title: 'idea',
    hypothesis: '',
    family: 'layers',
    category: 'architectural',
    cost: 'same',
    parents: ['a0'],
    change: { kind: 'files', files: {} },
  },
  knobs: { lr: 0.03, width: 32 },
  fingerprint: 'new',
}

describe('memoryModel', () => {
  it('says the same whether it grew with the session or begins at its end (RES-104)', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const said = (each: SearchState) => {
          const model = attemptModel(each)
          const { mean, sd } = model.predict(candidate, ['a0'])
          return { best: model.best.map(({ id }) => id), mean, sd }
        }
        for (let count = 1; count < state.attempts.length; count++) {
          attemptModel({ ...state, attempts: state.attempts.slice(0, count) })
        }
        expect(said(state)).toEqual(said(structuredClone(state)))
      }),
    )
  })

  it('is sure of itself to a finite degree, whatever the scores (RES-104)', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const { mean, sd } = attemptModel(state).predict(candidate, ['a0'])
        expect(Number.isFinite(mean)).toBe(true)
        expect(sd).toBeGreaterThanOrEqual(0)
        expect(sd).toBeLessThan(10)
      }),
    )
  })

  it('does not change with the unit of the metric (RES-104)', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const attempts = state.attempts.map((attempt) => ({
          ...attempt,
          scores: attempt.scores.map((score) => ({ ...score, value: score.value * 4 })),
        }))
        const scaled = attemptModel({ ...state, attempts }).predict(candidate, ['a0'])
        expect(scaled.mean).toBeCloseTo(attemptModel(state).predict(candidate, ['a0']).mean, 6)
      }),
    )
  })
})

describe('normalScores', () => {
  it('keeps the order, shares ties, and takes failures as the worst (RES-104)', () => {
    const scores = [...normalScores([3, 1, 1, Number.NEGATIVE_INFINITY, 1e9])]
    expect(scores[1]).toBe(scores[2])
    expect(
      scores
        .map((score, i) => [score, i] as const)
        .sort((a, b) => a[0] - b[0])
        .map(([, i]) => i),
    ).toEqual([3, 1, 2, 0, 4])
    expect(scores.reduce((a, b) => a + b)).toBeCloseTo(0)
    expect([...normalScores([2, 2])]).toEqual([0, 0])
    expect([...normalScores([])]).toEqual([])
  })
})

describe('cholesky', () => {
  it('solves systems, grown row by row alike (RES-104)', () => {
    const row = fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), (rows) => {
        const product = (i: number, j: number) =>
          (rows[i] ?? []).reduce((sum, value, k) => sum + value * (rows[j]?.[k] ?? 0), i === j ? 1 : 0)
        const matrix = rows.map((_, i) => Float64Array.from({ length: i + 1 }, (_, j) => product(i, j)))
        const factor = cholesky(matrix)
        expect(cholesky(matrix.slice(1), cholesky(matrix.slice(0, 1)))).toEqual(factor)
        const inverted = inverse(factor)
        const b = Float64Array.from(rows, (_, i) => i - 1)
        const x = solveCholesky(factor, b)
        for (const [i] of rows.entries()) {
          expect(rows.reduce((sum, _, j) => sum + product(i, j) * (x[j] ?? 0), 0)).toBeCloseTo(b[i] ?? 0, 5)
          const at = (j: number) => inverted[Math.max(i, j)]?.[Math.min(i, j)] ?? 0
          expect(rows.reduce((sum, _, j) => sum + product(i, j) * at(j), 0)).toBeCloseTo(1, 5)
        }
      }),
    )
  })
})
