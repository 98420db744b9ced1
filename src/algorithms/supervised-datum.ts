// A rendered conversation as a training example: inputs, shifted targets, and a weight for each target.
import type { Datum, Rendered } from '../contracts/index.ts'

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
