// The keep rule that others use: two seeds, the mean decides, and the second is spared when the first is worse than the best mean. That
// mean was chosen for being good, so it is a lucky one. Here to be compared with.

import { defineKeepRule } from '../../kernel/index.ts'
import { brokenGuard } from './guards.ts'
import { meanOf } from './mean-of.ts'
import { gainOf, hasFailure, valuesBySeed } from './pair-gains.ts'

const seeds = 2

export const referenceRule = defineKeepRule({
  kind: 'reference',
  summary:
    'Keeps what has the better mean of two seeds; the second seed is spared when the first is worse than the best mean.',
  incumbent: 'kept',
  decide(race) {
    const { direction, candidate } = race
    if (hasFailure(candidate)) return { action: 'discard', reason: 'Discarded: one of its scores is not a number.' }
    const best = meanOf([...valuesBySeed(race.incumbent).values()].slice(0, seeds))
    const values = [...valuesBySeed(candidate).values()].slice(0, seeds)
    if (values.length === 0) return { action: 'run' }
    if (Number.isNaN(best)) return { action: 'park', reason: 'Inconclusive: the incumbent has no score.' }
    const better = gainOf(direction, meanOf(values), best) > 0
    const told = `mean of ${values.length} ${values.length === 1 ? 'seed' : 'seeds'}`
    if (!better) return { action: 'discard', reason: `Discarded: the ${told} is no better than the best mean.` }
    if (values.length < seeds) return { action: 'run' }
    const broken = brokenGuard(race)
    return broken === undefined
      ? { action: 'keep', reason: `Kept (provisional): the ${told} is better than the best mean.` }
      : { action: 'discard', reason: `Discarded: ${broken}.` }
  },
})
