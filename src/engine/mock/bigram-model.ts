// A bigram language model: the next token depends on the one before it, and on nothing else. logits = W[previous] + b, or, with
// an adapter of rank r, logits = W0[previous] + b0 + (alpha / r) A[previous] B over frozen base weights. Small enough to train in
// milliseconds, real enough that its gradients, optimiser and samples are those of any other model.
//
// Axes: V previous token, U next token (both the vocabulary), R rank.
import { keyedRandom } from '../../kernel/index.ts'
import { loraAlpha } from '../files/model-spec.ts'
import { type Parameters, zeros } from '../optimizer/adam-state.ts'
import { logSoftmax } from '../sampling/next-token.ts'

export interface BigramSpec {
  readonly baseModel: string
  readonly vocabSize: number
  /** Absent: all weights are trained. */
  readonly rank?: number | undefined
}

export class BigramModel {
  readonly spec: BigramSpec
  /** What is trained: `weight` and `bias`, or `lora_a` and `lora_b`. */
  readonly parameters: Parameters
  readonly #base: BaseWeights
  readonly #rows = new Map<number, Float64Array>()
  /** Gradient so far with respect to the logits after a previous token, in two parts: see `accumulate`. Most tokens have none. */
  readonly #gradients = new Map<number, { readonly targets_U: Float64Array; mass: number }>()

  constructor(spec: BigramSpec, seed: number) {
    this.spec = spec
    const { vocabSize, rank } = spec
    this.#base = baseWeights(spec.baseModel, vocabSize)
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
    this.#gradients.clear()
  }

  /**
   * Adds the gradient of a loss whose derivative by log p(target | previous) is `derivative`. d log p_t / d logit_u is
   * [u = t] - p_u, so the first term is added where the target is and the second only counted: p does not change before the next
   * step. Hence the sum is the same whether data comes in one request or in many.
   */
  accumulate(previous: number, target: number, derivative: number): void {
    let gradient = this.#gradients.get(previous)
    if (gradient === undefined) {
      gradient = { targets_U: new Float64Array(this.spec.vocabSize), mass: 0 }
      this.#gradients.set(previous, gradient)
    }
    gradient.targets_U[target] = (gradient.targets_U[target] ?? 0) + derivative
    gradient.mass += derivative
  }

  /** The accumulated gradient of every parameter, by its name. */
  gradients(): Parameters {
    const gradients = zeros(this.parameters)
    // In the order of the vocabulary: sums must not depend on the order in which data came.
    for (const [v, { targets_U, mass }] of [...this.#gradients].sort(([a], [b]) => a - b)) {
      const logprobs_U = this.logprobs(v)
      const logits_U = targets_U.slice()
      for (let u = 0; u < logits_U.length; u++) logits_U[u] = (logits_U[u] ?? 0) - mass * Math.exp(logprobs_U[u] ?? 0)
      this.#backward(v, logits_U, gradients)
    }
    return gradients
  }

  #logits(previous: number): Float64Array {
    const { vocabSize: size, rank } = this.spec
    const { weight, bias, lora_a, lora_b } = this.parameters
    const weight_VU = weight ?? this.#base.weight_VU
    const bias_U = bias ?? this.#base.bias_U
    const logits_U = weight_VU.slice(previous * size, (previous + 1) * size)
    add(logits_U, 0, bias_U, 1)
    if (rank === undefined || lora_a === undefined || lora_b === undefined) return logits_U
    for (let r = 0; r < rank; r++) {
      const factor = (loraAlpha / rank) * (lora_a[previous * rank + r] ?? 0)
      add(logits_U, 0, lora_b.subarray(r * size, (r + 1) * size), factor)
    }
    return logits_U
  }

  // The chain rule from the logits after one previous token to the parameters.
  #backward(v: number, logits_U: Float64Array, gradients: Parameters): void {
    const { vocabSize: size, rank } = this.spec
    const { lora_a, lora_b } = this.parameters
    if (rank === undefined || lora_a === undefined || lora_b === undefined) {
      gradients.weight?.set(logits_U, v * size)
      add(gradients.bias, 0, logits_U, 1)
      return
    }
    const scale = loraAlpha / rank
    for (let r = 0; r < rank; r++) {
      let sum = 0
      for (let u = 0; u < size; u++) sum += (logits_U[u] ?? 0) * (lora_b[r * size + u] ?? 0)
      gradients.lora_a?.fill(scale * sum, v * rank + r, v * rank + r + 1)
      add(gradients.lora_b, r * size, logits_U, scale * (lora_a[v * rank + r] ?? 0))
    }
  }
}

function add(target: Float64Array | undefined, start: number, values: Float64Array, factor: number): void {
  if (target === undefined) return
  for (let i = 0; i < values.length; i++) target[start + i] = (target[start + i] ?? 0) + factor * (values[i] ?? 0)
}

// What a "pretrained" mock model knows: a little noise, decided by its name alone. Every seed of an experiment starts from the
// same base, as it does with a real model.
/** Large enough that models differ, small enough that every next token is about equally likely. */
const spread = 0.02

type BaseWeights = Readonly<Record<'weight_VU' | 'bias_U', Float64Array>>

// Policy, reference and every snapshot of a run have the same base.
const mostRecent = 4
const recent = new Map<string, BaseWeights>()

/** The weights of a base model. They are shared: do not change them. */
function baseWeights(baseModel: string, vocabSize: number): BaseWeights {
  const key = JSON.stringify([baseModel, vocabSize])
  const known = recent.get(key)
  if (known !== undefined) return known
  const random = keyedRandom(0, 'mock', 'base', baseModel, vocabSize)
  const weight_VU = new Float64Array(vocabSize * vocabSize)
  for (let i = 0; i < weight_VU.length; i++) weight_VU[i] = spread * random.normal()
  const made = { weight_VU, bias_U: new Float64Array(vocabSize) }
  const [oldest] = recent.keys()
  if (recent.size >= mostRecent && oldest !== undefined) recent.delete(oldest)
  recent.set(key, made)
  return made
}
