// Numbers in a row, whatever holds them: JSON gives plain arrays, protobuf typed ones.
import * as z from 'zod'

/** A list of numbers: a plain or typed array. */
export type NumberArray = readonly number[] | Float32Array | Float64Array | Int32Array

// One loop instead of a schema per element: a batch holds millions of numbers.
function isNumberArray(value: unknown): value is NumberArray {
  if (value instanceof Float32Array || value instanceof Float64Array || value instanceof Int32Array) return true
  if (!Array.isArray(value)) return false
  for (let at = 0; at < value.length; at++) if (typeof value[at] !== 'number') return false
  return true
}

/** Schema of a list of numbers. */
export const NumberArray = z.custom<NumberArray>(isNumberArray, 'expected a list of numbers')
