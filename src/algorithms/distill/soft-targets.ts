// A teacher's distribution as targets: several tokens in each place, weighted by their probabilities. What the teacher did not give
// (the tokens beyond the K likeliest) is left out, and the rest is scaled up to sum to one.
import type { Datum, Metrics, Tensor, TopKLogprobs } from '../../contracts/index.ts'

/** Likeliest tokens of a teacher in one place, with probabilities that sum to one. */
export interface SoftTarget {
  readonly tokens: Int32Array
  readonly probabilities: Float64Array
}

export interface SoftSequence {
  readonly datum: Datum
  /** Places that are trained on. */
  readonly supervised: number
  /** Of the targets, in nats, summed over places. */
  readonly entropy: number
}

/** The distribution in the place of a token; undefined where the teacher gave none. */
export function softTarget({ k, tokens, logprobs }: TopKLogprobs, at: number): SoftTarget | undefined {
  const rows = Array.from({ length: k }, (_, i) => at * k + i).filter((i) => (tokens[i] ?? -1) >= 0)
  const top = Math.max(...rows.map((i) => logprobs[i] ?? Number.NEGATIVE_INFINITY))
  if (!Number.isFinite(top)) return undefined
  const masses = Float64Array.from(rows, (i) => Math.exp((logprobs[i] ?? Number.NEGATIVE_INFINITY) - top))
  const sum = masses.reduce((a, b) => a + b, 0)
  return { tokens: Int32Array.from(rows, (i) => tokens[i] ?? 0), probabilities: masses.map((mass) => mass / sum) }
}

/**
 * An example for `cross_entropy` with K targets in each place. `targetOf(i)` is what stands in the place of token i; undefined: that
 * token is not trained on. Undefined where none is.
 */
export function softSequence(
  tokens: Int32Array,
  k: number,
  targetOf: (at: number) => SoftTarget | undefined,
  weight = 1,
): SoftSequence | undefined {
  const length = tokens.length - 1
  if (length < 1) return undefined
  const targets = new Int32Array(length * k)
  const weights = new Float64Array(length * k)
  let supervised = 0
  let entropy = 0
  for (let t = 0; t < length; t++) {
    const target = targetOf(t + 1)
    if (target === undefined) continue
    supervised += 1
    entropy += entropyOf(target)
    targets.set(target.tokens, t * k)
    weights.set(weight === 1 ? target.probabilities : target.probabilities.map((each) => each * weight), t * k)
  }
  if (supervised === 0) return undefined
  const shape = [length, k]
  const datum = {
    tokens: tokens.slice(0, length),
    lossInputs: { target_tokens: { data: targets, shape }, weights: { data: weights, shape } },
  }
  return { datum, supervised, entropy }
}

function entropyOf({ probabilities }: SoftTarget): number {
  return probabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0)
}

// Reverse KL of the student from its teacher, in every place, over the teacher's K likeliest tokens and one more outcome: any other
// token. With p the student and q the teacher,
//   KL = sum_k p_k (log p_k - log q_k) + P (log P - log Q),  P = 1 - sum_k p_k,  Q = 1 - sum_k q_k.
// Merging outcomes never raises a divergence, so this is a lower bound of the whole one, and equal to it when K is the vocabulary.
//   d KL / d log p_k = p_k (log p_k - log q_k - log P + log Q)
/** Mass below which an outcome counts as this likely: it bounds the loss where the teacher rules something out. */
const least = 1e-6

/** A sum over places, with its gradient by the student's log-probabilities. `teachers`: log-probabilities of the targets, row-major like
 * them; NaN where there is no target. */
export function reverseKlLoss(
  data: readonly Datum[],
  logprobs: readonly Tensor[],
  teachers: readonly Float64Array[],
  coef: number,
): { loss: number; gradients: Tensor[]; metrics: Metrics } {
  let total = 0
  let places = 0
  const gradients = data.map((_, i): Tensor => {
    const student = logprobs[i] ?? { data: new Float64Array(), shape: [0, 1] }
    const teacher = teachers[i] ?? new Float64Array()
    const [length = 0, k = 1] = student.shape
    const gradient = new Float64Array(length * k)
    for (let t = 0; t < length; t++) {
      if (Number.isNaN(teacher[t * k] ?? Number.NaN)) continue
      places += 1
      total += placeKl(student.data, teacher, gradient, t * k, k, coef)
    }
    return { data: gradient, shape: [...student.shape] }
  })
  return { loss: coef * total, gradients, metrics: { 'opd/kl': places === 0 ? 0 : total / places } }
}

function placeKl(
  student: ArrayLike<number>,
  teacher: ArrayLike<number>,
  gradient: Float64Array,
  from: number,
  k: number,
  coef: number,
): number {
  let given = 0
  let taught = 0
  for (let i = from; i < from + k; i++) {
    if (Number.isNaN(teacher[i])) continue
    given += Math.exp(student[i] ?? 0)
    taught += Math.exp(teacher[i] ?? 0)
  }
  const rest = Math.max(least, 1 - given)
  const beyond = Math.log(rest) - Math.log(Math.max(least, 1 - taught))
  // At the bound the rest no longer moves with the student.
  const slope = 1 - given > least ? beyond : -1
  let kl = rest * beyond
  for (let i = from; i < from + k; i++) {
    const lq = teacher[i] ?? Number.NaN
    if (Number.isNaN(lq)) continue
    const lp = student[i] ?? 0
    const ratio = lp - lq
    kl += Math.exp(lp) * ratio
    gradient[i] = coef * Math.exp(lp) * (ratio - slope)
  }
  return kl
}
