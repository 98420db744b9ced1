// Causal attention with grouped heads. Position t sees every position up to its own; head h reads the keys and values of group
// floor(h / (heads / kvHeads)). Probabilities are not kept for the gradient but computed again: short beats fast here.
import type { ModelShape } from '../files/model-shape.ts'

type Heads = Pick<ModelShape, 'heads' | 'kvHeads' | 'headDim'>

/** What queries at positions `start`, `start + 1`, ... read from keys and values of all positions so far. */
export function attend(
  q: Float64Array,
  k: Float64Array,
  v: Float64Array,
  { rows, start, shape }: { rows: number; start: number; shape: Heads },
): Float64Array {
  const { heads, kvHeads, headDim } = shape
  const out = new Float64Array(q.length)
  for (let t = 0; t < rows; t++) {
    for (let h = 0; h < heads; h++) {
      const query = (t * heads + h) * headDim
      const p_S = probabilities(q, query, k, start + t + 1, h, shape)
      for (let s = 0; s < p_S.length; s++) {
        const value = (s * kvHeads + groupOf(h, shape)) * headDim
        for (let i = 0; i < headDim; i++) out[query + i] = (out[query + i] ?? 0) + (p_S[s] ?? 0) * (v[value + i] ?? 0)
      }
    }
  }
  return out
}

/** Gradients by queries, keys and values of a text that starts at position 0. */
export function attendBack(
  q: Float64Array,
  k: Float64Array,
  v: Float64Array,
  dOut: Float64Array,
  { rows, shape }: { rows: number; shape: Heads },
): { dq: Float64Array; dk: Float64Array; dv: Float64Array } {
  const { heads, kvHeads, headDim } = shape
  const scale = 1 / Math.sqrt(headDim)
  const [dq, dk, dv] = [new Float64Array(q.length), new Float64Array(k.length), new Float64Array(v.length)]
  for (let t = 0; t < rows; t++) {
    for (let h = 0; h < heads; h++) {
      const query = (t * heads + h) * headDim
      const p_S = probabilities(q, query, k, t + 1, h, shape)
      // Of the softmax: dscore = p (dp - sum of p dp).
      const dp_S = p_S.map((_, s) => dot(dOut, query, v, (s * kvHeads + groupOf(h, shape)) * headDim, headDim))
      const mean = p_S.reduce((sum, p, s) => sum + p * (dp_S[s] ?? 0), 0)
      for (let s = 0; s <= t; s++) {
        const key = (s * kvHeads + groupOf(h, shape)) * headDim
        const p = p_S[s] ?? 0
        const dScore = scale * p * ((dp_S[s] ?? 0) - mean)
        for (let i = 0; i < headDim; i++) {
          dq[query + i] = (dq[query + i] ?? 0) + dScore * (k[key + i] ?? 0)
          dk[key + i] = (dk[key + i] ?? 0) + dScore * (q[query + i] ?? 0)
          dv[key + i] = (dv[key + i] ?? 0) + p * (dOut[query + i] ?? 0)
        }
      }
    }
  }
  return { dq, dk, dv }
}

function probabilities(
  q: Float64Array,
  query: number,
  k: Float64Array,
  length: number,
  head: number,
  shape: Heads,
): Float64Array {
  const { kvHeads, headDim } = shape
  const scale = 1 / Math.sqrt(headDim)
  const scores_S = new Float64Array(length)
  let largest = Number.NEGATIVE_INFINITY
  for (let s = 0; s < length; s++) {
    const score = scale * dot(q, query, k, (s * kvHeads + groupOf(head, shape)) * headDim, headDim)
    scores_S[s] = score
    if (!(score <= largest)) largest = score // takes a NaN over, so that it is seen
  }
  let sum = 0
  for (let s = 0; s < length; s++) {
    const e = Math.exp((scores_S[s] ?? 0) - largest)
    scores_S[s] = e
    sum += e
  }
  return scores_S.map((e) => e / sum)
}

function groupOf(head: number, { heads, kvHeads }: Heads): number {
  return Math.floor(head / (heads / kvHeads))
}

function dot(a: Float64Array, aStart: number, b: Float64Array, bStart: number, length: number): number {
  let sum = 0
  for (let i = 0; i < length; i++) sum += (a[aStart + i] ?? 0) * (b[bStart + i] ?? 0)
  return sum
}

/** Keys and values of the positions that one layer has seen. */
export class KvCache {
  #keys = new Float64Array()
  #values = new Float64Array()
  #length = 0

  /** Adds rows and returns all there are so far. */
  append(keys: Float64Array, values: Float64Array): { keys: Float64Array; values: Float64Array } {
    const end = this.#length + keys.length
    if (end > this.#keys.length) {
      this.#keys = grown(this.#keys, this.#length, 2 * end)
      this.#values = grown(this.#values, this.#length, 2 * end)
    }
    this.#keys.set(keys, this.#length)
    this.#values.set(values, this.#length)
    this.#length = end
    return { keys: this.#keys.subarray(0, end), values: this.#values.subarray(0, end) }
  }

  /** Forgets what came after a number of values per array. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length)
  }

  get length(): number {
    return this.#length
  }
}

function grown(old: Float64Array, length: number, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity)
  larger.set(old.subarray(0, length))
  return larger
}
