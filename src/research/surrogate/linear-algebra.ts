// Linear algebra of small matrices: tens of knobs, at most a few hundred observations.

/** Lower triangle of a symmetric matrix, row after row: row i has i + 1 numbers. What a row has beyond them is not read. */
export type Triangle = readonly Float64Array[]

/**
 * L with L L^T = matrix, of which `rows` are those after the ones that `before` holds the factor of. What is not quite positive by
 * rounding is held at a tiny number.
 */
export function cholesky(rows: Triangle, before: Triangle = []): Triangle {
  const factor = [...before]
  for (const row of rows) {
    const i = factor.length
    const out = new Float64Array(i + 1)
    for (let j = 0; j <= i; j++) {
      const other = factor[j] ?? out
      let sum = row[j] ?? 0
      for (let k = 0; k < j; k++) sum -= (out[k] as number) * (other[k] as number) // k < j: inside both rows
      out[j] = j === i ? Math.sqrt(Math.max(sum, 1e-10)) : sum / (other[j] as number)
    }
    factor.push(out)
  }
  return factor
}

/** x with L x = b. */
export function solveLower(factor: Triangle, b: Float64Array): Float64Array {
  const x = new Float64Array(b.length)
  for (let i = 0; i < b.length; i++) {
    const row = factor[i] as Float64Array // as many rows as b has numbers
    let sum = b[i] as number
    for (let k = 0; k < i; k++) sum -= (row[k] as number) * (x[k] as number)
    x[i] = sum / (row[i] as number)
  }
  return x
}

/** x with L L^T x = b. */
export function solveCholesky(factor: Triangle, b: Float64Array): Float64Array {
  const x = solveLower(factor, b)
  for (let i = b.length - 1; i >= 0; i--) {
    const row = factor[i] as Float64Array // as many rows as b has numbers
    const value = (x[i] as number) / (row[i] as number)
    x[i] = value
    for (let k = 0; k < i; k++) x[k] = (x[k] as number) - (row[k] as number) * value
  }
  return x
}

/** The inverse of L L^T, its lower triangle. */
export function inverse(factor: Triangle): Triangle {
  const lower: Float64Array[] = [] // the inverse of L
  for (const [i, row] of factor.entries()) {
    const out = new Float64Array(i + 1)
    const diagonal = row[i] as number // row i has i + 1 numbers
    out[i] = 1 / diagonal
    for (let j = 0; j < i; j++) {
      let sum = 0
      for (let k = j; k < i; k++) sum += (row[k] as number) * (lower[k]?.[j] as number)
      out[j] = -sum / diagonal
    }
    lower.push(out)
  }
  const product = factor.map((_, i) => new Float64Array(i + 1))
  for (const row of lower) {
    for (const [i, value] of row.entries()) {
      const out = product[i] as Float64Array // as many rows as the factor has
      for (let j = 0; j <= i; j++) out[j] = (out[j] as number) + value * (row[j] as number)
    }
  }
  return product
}

/** All cells, row by row. */
export type Matrix = number[][]

/** Eigenvalues and eigenvectors (in columns) of a symmetric matrix, by Jacobi's rotations. */
export function symmetricEigen(a: Matrix): { values: number[]; vectors: Matrix } {
  const n = a.length
  const m: Matrix = a.map((row) => [...row])
  const vectors: Matrix = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)))
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) off += cell(m, i, j) ** 2
    if (off < 1e-20) break
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(m, vectors, p, q)
  }
  return { values: m.map((row, i) => row[i] ?? 0), vectors }
}

function rotate(m: Matrix, vectors: Matrix, p: number, q: number): void {
  const value = cell(m, p, q)
  if (Math.abs(value) < 1e-15) return
  const theta = (cell(m, q, q) - cell(m, p, p)) / (2 * value)
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
  const c = 1 / Math.sqrt(t * t + 1)
  const s = t * c
  for (let k = 0; k < m.length; k++) turn(m, k, p, k, q, c, s)
  for (let k = 0; k < m.length; k++) turn(m, p, k, q, k, c, s)
  for (let k = 0; k < m.length; k++) turn(vectors, k, p, k, q, c, s)
}

function turn(m: Matrix, i: number, j: number, k: number, l: number, c: number, s: number): void {
  const a = cell(m, i, j)
  const b = cell(m, k, l)
  const first = m[i] ?? []
  const second = m[k] ?? []
  first[j] = c * a - s * b
  second[l] = s * a + c * b
}

export function cell(m: Matrix, i: number, j: number): number {
  return m[i]?.[j] ?? 0
}
