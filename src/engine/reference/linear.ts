// Matrix products over rows. A weight is `[out, in]`, as it lies in its file. Every result is one sum from the first input to the
// last, whatever rows stand beside it: a text has the same numbers alone, in a batch, and token by token.

/** y[t, o] = sum over i of x[t, i] w[o, i]. */
export function multiply(x_TI: Float64Array, w_OI: Float64Array, rows: number): Float64Array {
  const inner = x_TI.length / rows
  const outer = w_OI.length / inner
  const y_TO = new Float64Array(rows * outer)
  for (let t = 0; t < rows; t++) {
    const x = t * inner
    let o = 0
    // Four sums side by side: each has its own order, the processor need not wait for one to end.
    for (; o + 3 < outer; o += 4) {
      const w0 = o * inner
      const w1 = w0 + inner
      const w2 = w1 + inner
      const w3 = w2 + inner
      let sum0 = 0
      let sum1 = 0
      let sum2 = 0
      let sum3 = 0
      for (let i = 0; i < inner; i++) {
        const value = x_TI[x + i] ?? 0
        sum0 += value * (w_OI[w0 + i] ?? 0)
        sum1 += value * (w_OI[w1 + i] ?? 0)
        sum2 += value * (w_OI[w2 + i] ?? 0)
        sum3 += value * (w_OI[w3 + i] ?? 0)
      }
      y_TO[t * outer + o] = sum0
      y_TO[t * outer + o + 1] = sum1
      y_TO[t * outer + o + 2] = sum2
      y_TO[t * outer + o + 3] = sum3
    }
    for (; o < outer; o++) {
      let sum = 0
      for (let i = 0; i < inner; i++) sum += (x_TI[x + i] ?? 0) * (w_OI[o * inner + i] ?? 0)
      y_TO[t * outer + o] = sum
    }
  }
  return y_TO
}

/** dx[t, i] = sum over o of dy[t, o] w[o, i]. */
export function multiplyBack(dy_TO: Float64Array, w_OI: Float64Array, rows: number): Float64Array {
  const outer = dy_TO.length / rows
  const inner = w_OI.length / outer
  const dx_TI = new Float64Array(rows * inner)
  for (let t = 0; t < rows; t++) {
    addRows(dx_TI.subarray(t * inner, (t + 1) * inner), w_OI, (o) => dy_TO[t * outer + o] ?? 0)
  }
  return dx_TI
}

/** dw[o, i] += factor * sum over t of dy[t, o] x[t, i]. */
export function addOuter(dw_OI: Float64Array, dy_TO: Float64Array, x_TI: Float64Array, rows: number, factor = 1): void {
  const outer = dy_TO.length / rows
  const inner = x_TI.length / rows
  for (let o = 0; o < outer; o++) {
    addRows(dw_OI.subarray(o * inner, (o + 1) * inner), x_TI, (t) => factor * (dy_TO[t * outer + o] ?? 0))
  }
}

/** target[i] += sum over j of factor(j) values[j, i], from the first j to the last. */
function addRows(target_I: Float64Array, values_JI: Float64Array, factor: (j: number) => number): void {
  const size = target_I.length
  const count = values_JI.length / size
  let j = 0
  // Four rows at a time, in their order: the target is read and written a quarter as often.
  for (; j + 3 < count; j += 4) {
    const f0 = factor(j)
    const f1 = factor(j + 1)
    const f2 = factor(j + 2)
    const f3 = factor(j + 3)
    if (f0 === 0 && f1 === 0 && f2 === 0 && f3 === 0) continue
    const at0 = j * size
    const at1 = at0 + size
    const at2 = at1 + size
    const at3 = at2 + size
    for (let i = 0; i < size; i++) {
      target_I[i] =
        (target_I[i] ?? 0) +
        f0 * (values_JI[at0 + i] ?? 0) +
        f1 * (values_JI[at1 + i] ?? 0) +
        f2 * (values_JI[at2 + i] ?? 0) +
        f3 * (values_JI[at3 + i] ?? 0)
    }
  }
  for (; j < count; j++) addScaled(target_I, 0, values_JI, j * size, size, factor(j))
}

/** target += factor * values, over everything. */
export function add(target: Float64Array, values: Float64Array, factor = 1): void {
  addScaled(target, 0, values, 0, target.length, factor)
}

/** y[t] += b for every row. */
export function addToRows(y_TO: Float64Array, b_O: Float64Array): void {
  for (let at = 0; at < y_TO.length; at += b_O.length) addScaled(y_TO, at, b_O, 0, b_O.length, 1)
}

/** db += sum over t of dy[t]. */
export function addRowSum(db_O: Float64Array, dy_TO: Float64Array): void {
  for (let at = 0; at < dy_TO.length; at += db_O.length) addScaled(db_O, 0, dy_TO, at, db_O.length, 1)
}

function addScaled(
  target: Float64Array,
  at: number,
  values: Float64Array,
  from: number,
  length: number,
  factor: number,
): void {
  if (factor === 0) return
  for (let i = 0; i < length; i++) target[at + i] = (target[at + i] ?? 0) + factor * (values[from + i] ?? 0)
}
