// Completes a crossed table by its additive fit, row effect plus column effect, by least squares over the cells that are there
// (Yates 1933, "The analysis of replicated experiments when the field results are incomplete"). An easy task that one seed missed
// then does not count against that seed.

import { at } from './at.ts'

/** The table with every null replaced by its fit. Rows must be linked to each other through shared columns. */
export function fillMissing(values_S_T: readonly (readonly (number | null)[])[]): number[][] {
  if (values_S_T.every((row) => row.every((value) => value !== null))) return values_S_T.map((row) => row.map(known))
  const effects_S = rowEffects(values_S_T)
  const effects_T = Array.from({ length: values_S_T[0]?.length ?? 0 }, (_, t) =>
    meanOf(values_S_T.flatMap((row, s) => without(row[t], at(effects_S, s)))),
  )
  return values_S_T.map((row, s) => row.map((value, t) => value ?? at(effects_S, s) + at(effects_T, t)))
}

// Normal equations after the column effects are eliminated; the first row's effect is zero, the others are relative to it.
function rowEffects(values_S_T: readonly (readonly (number | null)[])[]): number[] {
  const n = values_S_T.length
  const system = Array.from({ length: n }, () => new Array<number>(n + 1).fill(0))
  for (let t = 0; t < (values_S_T[0]?.length ?? 0); t++) {
    const present = values_S_T.flatMap((row, s) => {
      const value = row[t] ?? null
      return value === null ? [] : [{ s, value }]
    })
    const mean = meanOf(present.map(({ value }) => value))
    for (const { s, value } of present) {
      const equation = at(system, s)
      equation[n] = at(equation, n) + value - mean
      equation[s] = at(equation, s) + 1
      for (const other of present) equation[other.s] = at(equation, other.s) - 1 / present.length
    }
  }
  return [0, ...solve(system.slice(1).map((equation) => equation.slice(1)))]
}

/** Gaussian elimination with partial pivoting on rows of [coefficients, right-hand side]. */
function solve(rows: number[][]): number[] {
  const n = rows.length
  for (let k = 0; k < n; k++) {
    let pivot = k
    for (let i = k + 1; i < n; i++) if (Math.abs(at(at(rows, i), k)) > Math.abs(at(at(rows, pivot), k))) pivot = i
    const top = at(rows, pivot)
    rows[pivot] = at(rows, k)
    rows[k] = top
    if (Math.abs(at(top, k)) < 1e-12) throw new RangeError('rows of the table are not linked by shared columns')
    for (let i = k + 1; i < n; i++) {
      const row = at(rows, i)
      const factor = at(row, k) / at(top, k)
      for (let j = k; j <= n; j++) row[j] = at(row, j) - factor * at(top, j)
    }
  }
  const solution = new Array<number>(n).fill(0)
  for (let k = n - 1; k >= 0; k--) {
    const row = at(rows, k)
    let rest = at(row, n)
    for (let j = k + 1; j < n; j++) rest -= at(row, j) * at(solution, j)
    solution[k] = rest / at(row, k)
  }
  return solution
}

function known(value: number | null): number {
  if (value === null) throw new RangeError('a value is missing')
  return value
}

function without(value: number | null | undefined, effect: number): number[] {
  return value === null || value === undefined ? [] : [value - effect]
}

function meanOf(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('a column of the table is empty')
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
