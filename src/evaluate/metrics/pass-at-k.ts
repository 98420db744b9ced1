import * as z from 'zod'
import { defineMetric } from '../../kernel/index.ts'
import { fullRewards, meanOf, passes } from './full-rewards.ts'

/** Chance that at least one of k samples passes. */
export const passAtK = defineMetric({
  kind: 'pass@{k}',
  summary: 'Chance that at least one of k samples of a task passes, without bias when more than k were taken.',
  params: z.strictObject({ k: z.int().min(1).max(10_000).describe('Samples of which one must pass.') }),
  direction: 'max',
  minSamples: ({ k }) => k,
  compute: (rewards, { params: { k } }) =>
    meanOf(fullRewards(rewards, k).map((task) => anyOfK(task.length, passes(task), k))),
})

/**
 * 1 - C(n-c, k) / C(n, k): the share of all sets of k out of n samples that hold one of the c that passed (Chen et al. 2021).
 * As a product, so that no binomial overflows; its factors fall as k grows, hence the result never does.
 */
export function anyOfK(n: number, c: number, k: number): number {
  if (n - c < k) return 1
  let none = 1
  for (let i = n - c + 1; i <= n; i++) none *= 1 - k / i
  return 1 - none
}
