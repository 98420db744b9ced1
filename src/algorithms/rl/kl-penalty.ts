// Distance from the reference in the reward: a token that has become likelier than under the reference by more than the mean of the
// batch loses advantage, one that did by less gains it. The mean is taken off so that the penalty moves no reward as a whole.
import type { PolicySequence } from './policy-sequences.ts'

/** Sequences whose advantages hold the penalty coef (mean(d) - d_t), d = log-probability drawn with - that of the reference. */
export function withKlPenalty(
  sequences: readonly PolicySequence[],
  references: readonly Float64Array[],
  coef: number,
): PolicySequence[] {
  const mean = klToReference(sequences, references)
  return sequences.map((sequence, s) => ({
    ...sequence,
    advantages: sequence.advantages.map((advantage, t) =>
      isTrained(sequence, t) ? advantage + coef * (mean - difference(sequence, references[s], t)) : advantage,
    ),
  }))
}

/** Mean of d over the tokens that are trained on: how far the policy that answered is from the reference. */
export function klToReference(sequences: readonly PolicySequence[], references: readonly Float64Array[]): number {
  let sum = 0
  let tokens = 0
  for (const [s, sequence] of sequences.entries()) {
    for (let t = 1; t < sequence.tokens.length; t++) {
      if (!isTrained(sequence, t)) continue
      sum += difference(sequence, references[s], t)
      tokens += 1
    }
  }
  return sum / Math.max(1, tokens)
}

// Nothing predicts the first token.
function isTrained({ mask }: PolicySequence, t: number): boolean {
  return t > 0 && mask[t] === 1
}

function difference({ logprobs }: PolicySequence, reference: Float64Array | undefined, t: number): number {
  return (logprobs[t] ?? 0) - (reference?.[t] ?? 0)
}
