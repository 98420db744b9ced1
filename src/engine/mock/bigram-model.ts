// A bigram language model: the next token depends on the one before it, and on nothing else. logits = W[previous] + b, or, with
// an adapter of rank r, logits = W0[previous] + b0 + (alpha / r) A[previous] B over frozen base weights. Small enough to train in
// milliseconds, real enough that its gradients, optimiser and samples are those of any other model.
//
// Axes: V previous token, U next token (both the vocabulary), R rank.
import { keyedRandom } from '../../kernel/index.ts'
import { baseWeights } from './base-weights.ts'

/** Numerator of the adapter's scale, as in LoRA: with alpha / r the best learning rate does not depend on the rank. */
const alpha = 32

export interface BigramSpec {
  readonly baseModel: string
  readonly vocabSize: number
  /** Absent: all weights are trained. */
  readonly rank?: number | undefined
}

/** What is trained, by name: `weight` and `bias`, or `lora_a` and `lora_b`. */
export type Parameters = Readonly<Record<string, Float64Array>>

export class BigramModel {
  readonly spec: BigramSpec
  readonly parameters: Parameters
  readonly #base: { weight_VU: Float64Array; bias_U: Float64Array }
  readonly #rows = new Map<number, Float64Array>()
  /** Gradient so far with respect to the logits, in two parts: see `accumulate`. */
  #targets_VU: Float64Array
  #mass_V: Float64Array

  constructor(spec: BigramSpec, seed: number) {
    this.spec = spec
    const { vocabSize, rank } = spec
    this.#base = baseWeights(spec.baseModel, vocabSize)
    this.#targets_VU = new Float64Array(vocabSize * vocabSize)
    this.#mass_V = new Float64Array(vocabSize)
    if (rank === undefined) {
      this.parameters = { weight: this.#base.weight_VU.slice(), bias: this.#base.bias_U.slice() }
    } else {
      // B starts at zero, so an untrained adapter changes nothing.
      const random = keyedRandom(seed, 'mock', 'lora_a', rank)
      this.parameters = {
        lora_a: Float64Array.from({ length: vocabSize * rank }, () => random.normal()),
        lora_b: new Float64Array(rank * vocabSize),
      }
    }
  }

  /** Log-probabilities of every next token after `previous`. The array is kept: do not change it. */
  logprobs(previous: number): Float64Array {
    let row_U = this.#rows.get(previous)
    if (row_U === undefined) {
      row_U = logSoftmax(this.#logits(previous))
      this.#rows.set(previous, row_U)
    }
    return row_U
  }

  /** To be called after `parameters` were written to: forgets what was computed from the old values. */
  changed(): void {
    this.#rows.clear()
    this.#targets_VU.fill(0)
    this.#mass_V.fill(0)
  }

  /**
   * Adds the gradient of a loss whose derivative by log p(target | previous) is `derivative`. d log p_t / d logit_u is
   * [u = t] - p_u, so the first term is added where the target is and the second only counted: p does not change before the next
   * step. Hence the sum is the same whether data comes in one request or in many.
   */
  accumulate(previous: number, target: number, derivative: number): void {
    const at = previous * this.spec.vocabSize + target
    this.#targets_VU[at] = (this.#targets_VU[at] ?? 0) + derivative
    this.#mass_V[previous] = (this.#mass_V[previous] ?? 0) + derivative
  }

  /** The accumulated gradient of every parameter, by its name. */
  gradients(): Parameters {
    const { vocabSize: size } = this.spec
    const logits_VU = new Float64Array(size * size)
    for (let v = 0; v < size; v++) {
      const row_U = this.#targets_VU.subarray(v * size, (v + 1) * size)
      const mass = this.#mass_V[v] ?? 0
      if (mass === 0 && row_U.every((value) => value === 0)) continue
      const logprobs_U = this.logprobs(v)
      for (let u = 0; u < size; u++) {
        logits_VU[v * size + u] = (row_U[u] ?? 0) - mass * Math.exp(logprobs_U[u] ?? 0)
      }
    }
    return this.#backward(logits_VU)
  }

  #logits(previous: number): Float64Array {
    const { vocabSize: size, rank } = this.spec
    const { weight, bias, lora_a, lora_b } = this.parameters
    const weight_VU = weight ?? this.#base.weight_VU
    const bias_U = bias ?? this.#base.bias_U
    const logits_U = weight_VU.slice(previous * size, (previous + 1) * size)
    for (let u = 0; u < size; u++) logits_U[u] = (logits_U[u] ?? 0) + (bias_U[u] ?? 0)
    if (rank === undefined || lora_a === undefined || lora_b === undefined) return logits_U
    for (let r = 0; r < rank; r++) {
      const factor = (alpha / rank) * (lora_a[previous * rank + r] ?? 0)
      for (let u = 0; u < size; u++) logits_U[u] = (logits_U[u] ?? 0) + factor * (lora_b[r * size + u] ?? 0)
    }
    return logits_U
  }

  // The chain rule from the logits of every previous token to the parameters.
  #backward(logits_VU: Float64Array): Parameters {
    const { vocabSize: size, rank } = this.spec
    const { lora_a, lora_b } = this.parameters
    if (rank === undefined || lora_a === undefined || lora_b === undefined) {
      const bias_U = new Float64Array(size)
      for (let at = 0; at < logits_VU.length; at++) bias_U[at % size] = (bias_U[at % size] ?? 0) + (logits_VU[at] ?? 0)
      return { weight: logits_VU, bias: bias_U }
    }
    const a_VR = new Float64Array(size * rank)
    const b_RU = new Float64Array(rank * size)
    const scale = alpha / rank
    for (let v = 0; v < size; v++) {
      for (let r = 0; r < rank; r++) {
        const factor = scale * (lora_a[v * rank + r] ?? 0)
        let sum = 0
        for (let u = 0; u < size; u++) {
          const gradient = logits_VU[v * size + u] ?? 0
          sum += gradient * (lora_b[r * size + u] ?? 0)
          b_RU[r * size + u] = (b_RU[r * size + u] ?? 0) + factor * gradient
        }
        a_VR[v * rank + r] = scale * sum
      }
    }
    return { lora_a: a_VR, lora_b: b_RU }
  }
}

function logSoftmax(logits: Float64Array): Float64Array {
  let largest = Number.NEGATIVE_INFINITY
  for (const logit of logits) if (logit > largest) largest = logit
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - largest)
  const normalizer = largest + Math.log(sum)
  return logits.map((logit) => logit - normalizer)
}
