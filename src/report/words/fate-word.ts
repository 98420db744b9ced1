import type { Fate } from '../figures/placed-attempt.ts'

const words: Readonly<Record<Fate, string>> = {
  baseline: 'baseline',
  confirmed: 'confirmed',
  provisional: 'kept, provisional',
  inconclusive: 'near miss',
  discarded: 'discarded',
  failed: 'failed',
  running: 'still running',
}

/** What became of an attempt, for people. */
export function fateWord(fate: Fate): string {
  return words[fate]
}
