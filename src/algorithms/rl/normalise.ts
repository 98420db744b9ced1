// What one token counts. Losses of the training protocol are sums over tokens, so a mean is made by dividing advantages.
import * as z from 'zod'
import type { PolicySequence } from './policy-sequences.ts'

export const Normalisation = z.enum(['token', 'sequence', 'trajectory', 'none'])
export type Normalisation = z.infer<typeof Normalisation>

/** A factor for the tokens of each sequence. All but `none` make the factors of all trained tokens add up to 1. */
export function scalesOf(
  sequences: readonly Pick<PolicySequence, 'trained' | 'trajectory'>[],
  kind: Normalisation,
): number[] {
  switch (kind) {
    case 'none':
      return sequences.map(() => 1)
    case 'token': {
      const tokens = sequences.reduce((sum, { trained }) => sum + trained, 0)
      return sequences.map(() => 1 / tokens)
    }
    case 'sequence':
      return sequences.map(({ trained }) => 1 / (sequences.length * trained))
    case 'trajectory': {
      const tokensOf = new Map<object, number>()
      for (const { trajectory, trained } of sequences) {
        tokensOf.set(trajectory, (tokensOf.get(trajectory) ?? 0) + trained)
      }
      return sequences.map(({ trajectory }) => 1 / (tokensOf.size * (tokensOf.get(trajectory) ?? 1)))
    }
  }
}
