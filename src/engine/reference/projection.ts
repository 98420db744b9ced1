// A linear map of the model with everything that may hang on it: y = x W^T + b + scale (x A^T) B^T.
import type { Parameters } from '../optimizer/adam-state.ts'
import { add, addOuter, addRowSum, addToRows, multiply, multiplyBack } from './linear.ts'
import type { ReferenceModel } from './reference-model.ts'

/** Projects rows by the map of this name. */
export function project(model: ReferenceModel, name: string, x_TI: Float64Array, rows: number): Float64Array {
  const y_TO = multiply(x_TI, model.tensor(model.weightName(name)), rows)
  if (hasBias(model, name)) addToRows(y_TO, model.tensor(`${name}.bias`))
  const adapter = model.adapter(name)
  if (adapter !== undefined) {
    add(y_TO, multiply(multiply(x_TI, adapter.a_RI, rows), adapter.b_OR, rows), adapter.scale)
  }
  return y_TO
}

/** dx from dy; adds to the gradients of what is trained. */
export function projectBack(
  model: ReferenceModel,
  gradients: Parameters,
  name: string,
  { x_TI, dy_TO, rows }: { x_TI: Float64Array; dy_TO: Float64Array; rows: number },
): Float64Array {
  const dx_TI = multiplyBack(dy_TO, model.tensor(model.weightName(name)), rows)
  const dWeight = gradients[model.weightName(name)]
  if (dWeight !== undefined) addOuter(dWeight, dy_TO, x_TI, rows)
  const dBias = gradients[`${name}.bias`]
  if (dBias !== undefined) addRowSum(dBias, dy_TO)
  const adapter = model.adapter(name)
  if (adapter === undefined) return dx_TI
  const { a_RI, b_OR, nameA, nameB, scale } = adapter
  const low_TR = multiply(x_TI, a_RI, rows)
  const dLow_TR = multiplyBack(dy_TO, b_OR, rows)
  add(dx_TI, multiplyBack(dLow_TR, a_RI, rows), scale)
  const [dA, dB] = [gradients[nameA], gradients[nameB]]
  if (dA !== undefined) addOuter(dA, dLow_TR, x_TI, rows, scale)
  if (dB !== undefined) addOuter(dB, dy_TO, low_TR, rows, scale)
  return dx_TI
}

function hasBias({ shape }: ReferenceModel, name: string): boolean {
  if (/[qkv]_proj$/.test(name)) return shape.qkvBias
  if (name.endsWith('o_proj')) return shape.outputBias
  return name !== 'lm_head' && shape.mlpBias
}
