// Datums and tensors as the wire has them, and back.
import type { Datum, Tensor } from '../contracts/index.ts'
import type * as tinker from '../contracts/tinker/index.ts'

export function toWireDatum({ tokens, lossInputs }: Datum): tinker.Datum {
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens }] },
    loss_fn_inputs: Object.fromEntries(
      Object.entries(lossInputs).map(([name, tensor]) => [name, toWireTensor(name, tensor)]),
    ),
  }
}

function toWireTensor(name: string, { data, shape }: Tensor): tinker.TensorData {
  const dtype = data instanceof Int32Array || name === 'target_tokens' ? 'int64' : 'float32'
  return { data, dtype, shape: [...shape] }
}

/** The same as plain JSON: typed arrays would be written as objects. */
export function toJsonDatum({ model_input, loss_fn_inputs }: tinker.Datum): unknown {
  return {
    model_input: {
      chunks: model_input.chunks.map((chunk) =>
        chunk.type === 'encoded_text' ? { ...chunk, tokens: Array.from(chunk.tokens) } : chunk,
      ),
    },
    loss_fn_inputs: Object.fromEntries(
      Object.entries(loss_fn_inputs).map(([name, tensor]) => [name, { ...tensor, data: plainNumbers(tensor) }]),
    ),
  }
}

// What was a float32 is written as the shortest decimal that is that float32: both forms carry the same value.
function plainNumbers({ data, dtype }: tinker.TensorData): number[] {
  return dtype === 'float32' ? Array.from(data, Math.fround) : Array.from(data)
}

export function fromWireTensor({ data, dtype, shape }: tinker.TensorData): Tensor {
  return { data: typed(data, dtype), shape: shape ?? [data.length] }
}

function typed(data: tinker.NumberArray, dtype: tinker.TensorData['dtype']): Tensor['data'] {
  if (!Array.isArray(data)) return data as Tensor['data'] // what is no plain array is a typed one
  if (dtype === 'float32') return Float32Array.from(data)
  const ints = Int32Array.from(data)
  return data.every((value, index) => value === ints[index]) ? ints : Float64Array.from(data)
}
