// One run, any gain. What is kept is often luck, and the bar rises with every lucky run. Here to be compared with.

import { defineKeepRule } from '../../kernel/index.ts'
import { brokenGuard } from './guards.ts'
import { gainOf, hasFailure, valuesBySeed } from './pair-gains.ts'

export const greedyRule = defineKeepRule({
  kind: 'greedy',
  summary: 'Keeps whatever is better in one run.',
  incumbent: 'kept',
  decide(race) {
    if (hasFailure(race.candidate)) return { action: 'discard', reason: 'Discarded: its score is not a number.' }
    const [value] = valuesBySeed(race.candidate).values()
    const [best] = valuesBySeed(race.incumbent).values()
    if (value === undefined) return { action: 'run' }
    if (best === undefined) return { action: 'park', reason: 'Inconclusive: the incumbent has no score.' }
    if (!(gainOf(race.direction, value, best) > 0))
      return { action: 'discard', reason: 'Discarded: no better in one run.' }
    const broken = brokenGuard(race)
    return broken === undefined
      ? { action: 'keep', reason: 'Kept (provisional): better in one run.' }
      : { action: 'discard', reason: `Discarded: ${broken}.` }
  },
})
