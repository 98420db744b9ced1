// Of n samples of a task, c are right. Unbiased estimates of: at least one of k right (Chen et al. 2021, "Evaluating large language
// models trained on code", eq. 1) and all of k right (Yao et al. 2024, tau-bench).

import { requireCount } from './require-finite.ts'

/** pass@k = 1 - C(n - c, k) / C(n, k): the chance that k of the n samples, drawn without replacement, hold a right one. */
export function passAtK(samples: number, correct: number, k: number): number {
  requireSamples(samples, correct, k)
  return 1 - drawnFrom(samples - correct, samples, k)
}

/** pass^k = C(c, k) / C(n, k): the chance that k of the n samples, drawn without replacement, are all right. */
export function passHatK(samples: number, correct: number, k: number): number {
  requireSamples(samples, correct, k)
  return drawnFrom(correct, samples, k)
}

// C(part, k) / C(whole, k) as a product, which never overflows.
function drawnFrom(part: number, whole: number, k: number): number {
  let chance = 1
  for (let i = 0; i < k && chance > 0; i++) chance *= Math.max(0, part - i) / (whole - i)
  return chance
}

function requireSamples(samples: number, correct: number, k: number): void {
  requireCount(samples, 1, 'samples')
  requireCount(correct, 0, 'correct')
  requireCount(k, 1, 'k')
  if (correct > samples) throw new RangeError(`${correct} correct in ${samples} samples`)
  if (k > samples) throw new RangeError(`pass@${k} needs ${k} samples of each task, not ${samples}`)
}
