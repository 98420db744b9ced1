import * as z from 'zod'
import { defineMetric } from '../../kernel/index.ts'
import { passHatK as chanceOfAll } from '../../stats/index.ts'
import { fullRewards, meanOf, passes } from './full-rewards.ts'

/** Chance that all of k samples pass. */
export const passHatK = defineMetric({
  kind: 'pass^{k}',
  summary: 'Chance that all of k samples of a task pass, without bias when more than k were taken.',
  params: z.strictObject({ k: z.int().min(1).max(10_000).describe('Samples that must all pass.') }),
  direction: 'max',
  minSamples: ({ k }) => k,
  compute: (rewards, { params: { k } }) =>
    meanOf(fullRewards(rewards, k).map((task) => chanceOfAll(task.length, passes(task), k))),
})
