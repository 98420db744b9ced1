// What holds for the adapters of every engine.
import type { LoraSpec } from '../contracts/index.ts'
import { refused } from './refused.ts'

/**
 * Numerator of an adapter's scale, alpha / rank: with it the best learning rate hardly depends on the rank. The protocol has no
 * field for it; 32 is what the hosted service uses.
 */
export const loraAlpha = 32

/** More than any use of an adapter needs. */
const largestRank = 4096

/** Refuses an adapter that could not be trained. */
export function checkLora({ rank, seed, trainAttention, trainMlp, trainUnembedding }: LoraSpec): void {
  if (!(Number.isSafeInteger(rank) && rank >= 1 && rank <= largestRank)) {
    throw refused(`the adapter has rank ${rank}`, `use a whole number from 1 to ${largestRank}.`)
  }
  if (!Number.isSafeInteger(seed)) throw refused(`the adapter has seed ${seed}`, 'use a whole number.')
  if (!(trainAttention || trainMlp || trainUnembedding)) {
    throw refused('the adapter would train nothing', 'switch on at least one part.')
  }
}
