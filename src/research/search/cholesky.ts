// Linear algebra of small symmetric positive matrices, as rows of a lower triangle.

/** Lower triangle, row after row: row i has i + 1 numbers. */
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

/** x with L^T x = b. */
export function solveUpper(factor: Triangle, b: Float64Array): Float64Array {
  const x = Float64Array.from(b)
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
