// Root mean square normalisation (Zhang and Sennrich 2019): y = w x / sqrt(mean(x^2) + eps), row by row.

/** Normalises each row, of the weight's length. */
export function rmsNorm(x: Float64Array, w_D: Float64Array, eps: number): Float64Array {
  const y = new Float64Array(x.length)
  const size = w_D.length
  for (let at = 0; at < x.length; at += size) {
    const scale = inverseRms(x, at, size, eps)
    for (let i = 0; i < size; i++) y[at + i] = (w_D[i] ?? 0) * (x[at + i] ?? 0) * scale
  }
  return y
}

/** dx from dy; adds to dw where there is one. With s = 1 / rms: dx = s w dy - x s^3 / n * sum(x w dy). */
export function rmsNormBack(
  x: Float64Array,
  w_D: Float64Array,
  eps: number,
  dy: Float64Array,
  dw_D: Float64Array | undefined,
): Float64Array {
  const dx = new Float64Array(x.length)
  const size = w_D.length
  for (let at = 0; at < x.length; at += size) {
    const scale = inverseRms(x, at, size, eps)
    let sum = 0
    for (let i = 0; i < size; i++) sum += (x[at + i] ?? 0) * (w_D[i] ?? 0) * (dy[at + i] ?? 0)
    const pull = (sum * scale * scale * scale) / size
    for (let i = 0; i < size; i++) {
      dx[at + i] = scale * (w_D[i] ?? 0) * (dy[at + i] ?? 0) - pull * (x[at + i] ?? 0)
      if (dw_D !== undefined) dw_D[i] = (dw_D[i] ?? 0) + (dy[at + i] ?? 0) * (x[at + i] ?? 0) * scale
    }
  }
  return dx
}

function inverseRms(x: Float64Array, at: number, size: number, eps: number): number {
  let sum = 0
  for (let i = 0; i < size; i++) sum += (x[at + i] ?? 0) * (x[at + i] ?? 0)
  return 1 / Math.sqrt(sum / size + eps)
}
