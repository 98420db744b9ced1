// What scripts/torch-fixtures.py wrote: a model's folder, and the numbers that PyTorch computes for it.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { decodeSafetensors, type NamedTensors } from '../src/engine/files/safetensors-file.ts'

const root = fileURLToPath(new URL('./fixtures/engine/', import.meta.url))

export const torchCases = ['llama-llama3-tied', 'llama-linear-biased', 'qwen2-yarn', 'qwen3-default']

export type TorchFixture = {
  folder: string
  tensors: NamedTensors
  /** Values of a tensor that must be there. */
  values(name: string): Float64Array
  /** All tensors below a prefix, by the rest of their names. */
  below(prefix: string): ReadonlyMap<string, Float64Array>
}

export function torchFixture(name: string): TorchFixture {
  const folder = `${root}${name}`
  const { tensors } = decodeSafetensors(readFileSync(`${folder}/expected.safetensors`), name)
  return {
    folder,
    tensors,
    values(of) {
      const found = tensors.get(of)
      if (found === undefined) throw new Error(`the fixture ${name} has no ${of}`)
      return found.data
    },
    below: (prefix) =>
      new Map(
        [...tensors].flatMap(([each, { data }]) =>
          each.startsWith(prefix) ? [[each.slice(prefix.length), data]] : [],
        ),
      ),
  }
}

export function jsonFixture(name: 'adam' | 'rope'): unknown {
  return JSON.parse(readFileSync(`${root}${name}.json`, 'utf8'))
}

/** ||a - b|| / ||b||, or divided by another scale. */
export function relativeDistance(a: ArrayLike<number>, b: ArrayLike<number>, scale?: number): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY
  let [difference, size] = [0, 0]
  for (let i = 0; i < b.length; i++) {
    difference += ((a[i] ?? Number.NaN) - (b[i] ?? 0)) ** 2
    size += (b[i] ?? 0) ** 2
  }
  return scale === undefined ? Math.sqrt(difference / size) : Math.sqrt(difference) / scale
}
