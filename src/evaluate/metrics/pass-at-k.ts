import * as z from 'zod'
import { defineMetric } from '../../kernel/index.ts'
import { passAtK as chanceOfAny } from '../../stats/index.ts'
import { fullRewards, meanOf, passes } from './full-rewards.ts'

/** Chance that at least one of k samples passes. */
export const passAtK = defineMetric({
  kind: 'pass@{k}',
  summary: 'Chance that at least one of k samples of a task passes, without bias when more than k were taken.',
  params: z.strictObject({ k: z.int().min(1).max(10_000).describe('Samples of which one must pass.') }),
  direction: 'max',
  minSamples: ({ k }) => k,
  compute: (rewards, { params: { k } }) =>
    meanOf(fullRewards(rewards, k).map((task) => chanceOfAny(task.length, passes(task), k))),
})
