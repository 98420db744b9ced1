// Small dense matrices, row by row. Sizes here are tens of knobs and at most a few hundred observations.

export type Matrix = number[][]

/** Lower triangle L with L L' = A. A little is added to the diagonal where A is not quite positive. */
export function cholesky(a: Matrix): Matrix {
  const n = a.length
  const lower: Matrix = a.map(() => new Array<number>(n).fill(0))
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = cell(a, i, j)
      for (let k = 0; k < j; k++) sum -= cell(lower, i, k) * cell(lower, j, k)
      const row = lower[i] ?? []
      row[j] = i === j ? Math.sqrt(Math.max(sum, 1e-10)) : sum / cell(lower, j, j)
    }
  }
  return lower
}

/** The x with L x = b. */
export function solveLower(lower: Matrix, b: readonly number[]): number[] {
  const x: number[] = []
  for (let i = 0; i < b.length; i++) {
    let sum = b[i] ?? 0
    for (let k = 0; k < i; k++) sum -= cell(lower, i, k) * (x[k] ?? 0)
    x.push(sum / cell(lower, i, i))
  }
  return x
}

/** The x with L L' x = b. */
export function solveCholesky(lower: Matrix, b: readonly number[]): number[] {
  const y = solveLower(lower, b)
  const x = new Array<number>(b.length).fill(0)
  for (let i = b.length - 1; i >= 0; i--) {
    let sum = y[i] ?? 0
    for (let k = i + 1; k < b.length; k++) sum -= cell(lower, k, i) * (x[k] ?? 0)
    x[i] = sum / cell(lower, i, i)
  }
  return x
}

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

export function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}
