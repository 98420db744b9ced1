// A teacher's distribution as targets: several tokens in each place, weighted by their probabilities. What the teacher did not tell
// (the tokens beyond the K likeliest) is left out, and the rest is scaled up to sum to one.
import type { Datum, TopKLogprobs } from '../../contracts/index.ts'

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

/** The distribution in the place of a token; undefined where the teacher told nothing. */
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
