// A rendered conversation as a training example: inputs, shifted targets, and a weight for each target.
import type { Datum, Rendered } from '../../contracts/index.ts'
import type { TrainingSequence } from './merge-turns.ts'

export interface SupervisedDatum {
  readonly datum: Datum
  /** Targets that are trained on. */
  readonly supervised: number
  readonly truncated: boolean
}

/**
 * Position t predicts token t + 1. A target has weight 1 where an assistant would have produced it, in one of the `messages`
 * that are trained on. A longer conversation loses its end. Undefined where nothing is left to train on.
 */
export function supervisedDatum(
  { tokens, message, produced }: Rendered,
  { maxTokens, isTrained }: { maxTokens: number; isTrained: (message: number) => boolean },
): SupervisedDatum | undefined {
  const length = Math.min(tokens.length, maxTokens) - 1
  if (length < 1) return undefined
  const weights = new Float32Array(length)
  let supervised = 0
  for (let t = 0; t < length; t++) {
    if (produced[t + 1] !== 1 || !isTrained(message[t + 1] ?? -1)) continue
    weights[t] = 1
    supervised++
  }
  if (supervised === 0) return undefined
  const datum = {
    tokens: tokens.slice(0, length),
    lossInputs: {
      target_tokens: { data: tokens.slice(1, length + 1), shape: [length] },
      weights: { data: weights, shape: [length] },
    },
  }
  return { datum, supervised, truncated: tokens.length > maxTokens }
}

// A training sequence as one example of the training protocol. Position t belongs to the token that follows tokens[t], so every
// per-token array loses its first element.
/**
 * For losses of a policy: `importance_sampling`, `ppo` and their kin. One advantage for the whole trajectory, or one per token of
 * the sequence. Undefined where nothing is trained on.
 */
export function policyDatum(sequence: TrainingSequence, advantage: number | Float64Array): Datum | undefined {
  const { tokens, mask, logprobs } = sequence
  if (typeof advantage !== 'number' && advantage.length !== tokens.length) {
    throw new RangeError(`${advantage.length} advantages for ${tokens.length} tokens`)
  }
  const advantages = Float64Array.from(mask, (trained, at) => {
    if (trained === 0) return 0
    return typeof advantage === 'number' ? advantage : (advantage[at] ?? 0)
  })
  return shifted(sequence, { logprobs, advantages })
}

/** For `cross_entropy`: the drawn tokens are learnt as they are. Undefined where nothing is trained on. */
export function supervisedSequence(sequence: TrainingSequence, weight = 1): Datum | undefined {
  return shifted(sequence, { weights: Float64Array.from(sequence.mask, (trained) => trained * weight) })
}

function shifted({ tokens, mask }: TrainingSequence, inputs: Record<string, Float64Array>): Datum | undefined {
  const length = tokens.length - 1
  if (!mask.subarray(1).includes(1)) return undefined
  return {
    tokens: tokens.slice(0, length),
    lossInputs: {
      target_tokens: { data: tokens.slice(1), shape: [length] },
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, data]) => [name, { data: data.slice(1), shape: [length] }]),
      ),
    },
  }
}
