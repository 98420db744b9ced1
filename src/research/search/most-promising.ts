// Where to go on from. An answer holds changes of one base, so what can be found next is decided by the base more than by the choice
// among the ideas: some bases, and pairs of them, are compared by changes that the model imagines around each.
import type { Attempt, Random, SearchRequest, SearchState } from '../../contracts/index.ts'
import { logExpectedImprovement } from './expected-improvement.ts'
import { imagineChanges } from './imagine-changes.ts'
import type { MemoryModel } from './memory-model.ts'

/** Changes that are imagined around a base, and how many of the best of them tell what it is worth. */
const imagined = { count: 24, told: 2 }

/** A base, or a base and what to combine it with. */
export type Origin = { readonly parents: readonly Attempt[]; readonly mode: SearchRequest['mode'] }

export interface PromisingOptions {
  readonly model: MemoryModel
  readonly state: Pick<SearchState, 'attempts' | 'space'>
  readonly boldness: number
  readonly random: Random
}

/** The origin around which the model expects the largest gain; none where there is no knob to imagine changes of. */
export function mostPromising(origins: readonly Origin[], options: PromisingOptions): Origin | undefined {
  const names = Object.keys(options.state.space)
  const keyOf = (knobs: Attempt['knobs']) => names.map((name) => knobs[name]).join('\n')
  const tried = new Set(options.state.attempts.map(({ knobs }) => keyOf(knobs)))
  let best: Origin | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const origin of origins) {
    const seen = new Set(tried)
    const isNew = (knobs: Attempt['knobs']) => seen.size < seen.add(keyOf(knobs)).size
    const gain = gainAround(origin, options, isNew)
    if (gain > most) {
      most = gain
      best = origin
    }
  }
  return best
}

// The logarithm of the mean gain of the best that were imagined.
function gainAround(
  { parents }: Origin,
  { model, state, boldness, random }: PromisingOptions,
  isNew: (knobs: Attempt['knobs']) => boolean,
): number {
  const [base, partner] = parents
  if (base === undefined) return Number.NEGATIVE_INFINITY
  const ids = parents.map(({ id }) => id)
  const changes = imagineChanges({
    space: state.space,
    base: base.knobs,
    ...(partner === undefined ? {} : { partner: partner.knobs }),
    count: imagined.count,
    random,
  })
  const gains = changes
    .filter(isNew)
    .map((knobs) => {
      const { mean, sd } = model.imagine(knobs, ids)
      return logExpectedImprovement(mean, boldness * sd, model.top)
    })
    .sort((a, b) => b - a)
    .slice(0, imagined.told)
  const [top = Number.NEGATIVE_INFINITY] = gains
  return top + Math.log(gains.reduce((sum, gain) => sum + Math.exp(gain - top), 0) / imagined.told)
}
