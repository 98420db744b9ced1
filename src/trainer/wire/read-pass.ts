// Training data as it comes over the wire, turned into what an engine takes. Everything is checked here, while the client still
// waits for the answer to its request: a mistake is told with its place, and at once.
import type { Datum, NamedLoss, Tensor } from '../../contracts/index.ts'
import * as tinker from '../../contracts/tinker/index.ts'
import { checkedData, type DataLimits, lossFunction } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { type Loc, unprocessable, wordsOf } from '../http/http-error.ts'

export type Pass = { readonly data: Datum[]; readonly loss: NamedLoss }

/** The data and loss of a request; `loc` is where they stand in it. */
export function readPass(input: tinker.ForwardBackwardInput, limits: DataLimits, loc: Loc): Pass {
  const loss = at([...loc, 'loss_fn'], () => readLoss(input))
  const checks = at([...loc, 'loss_fn'], () => lossFunction(loss))
  if (input.data.length === 0) throw unprocessable([...loc, 'data'], 'there must be at least one datum')
  const data = input.data.map((each, index) =>
    at([...loc, 'data', index], () => {
      const datum = readDatum(each)
      checkedData([datum], checks, limits)
      return datum
    }),
  )
  return { data, loss }
}

function readLoss({ loss_fn: name, loss_fn_config: config }: tinker.ForwardBackwardInput): NamedLoss {
  if (config == null) return { name }
  const settings: Record<string, number> = {}
  for (const [key, value] of Object.entries(config)) {
    if (typeof value !== 'number') throw new tinker.WireError(key, 'the setting of a loss is a number')
    settings[key] = value
  }
  return { name, config: settings }
}

function readDatum({ model_input, loss_fn_inputs }: tinker.Datum): Datum {
  const inputs = Object.entries(loss_fn_inputs).map(([name, tensor]) => [name, readTensor(tensor, name)])
  return { tokens: tinker.tokensOf(model_input), lossInputs: Object.fromEntries(inputs) }
}

function readTensor(tensor: tinker.TensorData, name: string): Tensor {
  const { data, shape } = tinker.denseTensor(tensor, `loss_fn_inputs.${name}`)
  if (tensor.dtype === 'float32') return { data: data instanceof Float32Array ? data : Float32Array.from(data), shape }
  // Whole numbers that do not fit are kept as they are, for the check to name.
  const whole = data instanceof Int32Array ? data : Int32Array.from(data)
  return {
    data: data === whole || whole.every((value, index) => value === data[index]) ? whole : Float64Array.from(data),
    shape,
  }
}

/** Runs a check; what it finds is told with the place. */
export function at<T>(loc: Loc, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof tinker.WireError) throw unprocessable([...loc, ...places(error.at)], error.message)
    // The one datum that was checked is number 0 to its checker; its real number is in `loc`.
    if (EvsysError.is(error)) throw unprocessable(loc, wordsOf(error).replace(/^datum 0:? /, ''))
    throw error
  }
}

// `model_input.chunks[2]` as the steps that lead there.
function places(path: string): (string | number)[] {
  return path.split(/[.[\]]+/).flatMap((step) => (step === '' ? [] : [/^\d+$/.test(step) ? Number(step) : step]))
}
