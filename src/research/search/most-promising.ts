// Which base to change next. An answer holds changes of one base, so what can be found next is decided by the base more than by the choice
// among the ideas: some bases, and pairs of them, are compared by changes that the model imagines around each.
import type { Attempt, KnobSpec, Knobs, KnobValue, Random, SearchRequest, SearchState } from '../../contracts/index.ts'
import type { AttemptModel } from '../surrogate/attempt-model.ts'
import { logExpectedImprovement } from '../surrogate/gaussian-process.ts'
import { isTurnable, type PromisingPoint, promisingPoints } from '../surrogate/promising-points.ts'

/** Changes that are imagined around a base, and how many of the best of them say what it is worth. */
const imagined = { count: 24, best: 2 }

/** A base, or a base and what to combine it with. */
export type Origin = { readonly parents: readonly Attempt[]; readonly mode: SearchRequest['mode'] }

type Promising = Origin & { /** Logarithm of the gain that is expected around it. */ readonly worth: number }

interface PromisingOptions {
  readonly model: AttemptModel
  readonly state: Pick<SearchState, 'attempts' | 'space'>
  readonly boldness: number
  readonly random: Random
}

/** The origin around which the model expects the largest gain; none where there is no knob to imagine changes of. */
export function mostPromising(origins: readonly Origin[], options: PromisingOptions): Promising | undefined {
  const names = Object.keys(options.state.space)
  const keyOf = (knobs: Attempt['knobs']) => names.map((name) => knobs[name]).join('\n')
  const tried = new Set(options.state.attempts.map(({ knobs }) => keyOf(knobs)))
  let best: Promising | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const origin of origins) {
    const seen = new Set(tried)
    const isNew = (knobs: Attempt['knobs']) => seen.size < seen.add(keyOf(knobs)).size
    const gain = gainAround(origin, options, isNew)
    if (gain > most) {
      most = gain
      best = { ...origin, worth: gain }
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
  const pair = { base: base.knobs, partner: partner?.knobs }
  const changes = imagineChanges({ space: state.space, ...pair, count: imagined.count, random })
  const gains = changes
    .filter(isNew)
    .map((knobs) => {
      const { mean, sd } = model.imagine(knobs, ids)
      return logExpectedImprovement(mean, boldness * sd, model.top)
    })
    .sort((a, b) => b - a)
    .slice(0, imagined.best)
  const [top = Number.NEGATIVE_INFINITY] = gains
  return top + Math.log(gains.reduce((sum, gain) => sum + Math.exp(gain - top), 0) / imagined.best)
}

/** What a gain is worth that is one change further away than the next. */
const laterByOne = 0.4

/** The place of the whole space from which the model expects the most. */
export function farGoal({ model, state, boldness, random }: PromisingOptions): PromisingPoint | undefined {
  const [best] = model.best
  if (best === undefined) return undefined
  const names = Object.keys(state.space)
  const keyOf = (knobs: Knobs) => names.map((name) => knobs[name]).join('\n')
  const tried = new Set(state.attempts.map(({ knobs }) => keyOf(knobs)))
  const isNew = (knobs: Knobs) => !tried.has(keyOf(knobs))
  return promisingPoints({
    model,
    space: state.space,
    base: best.knobs,
    parents: [best.id],
    boldness,
    isNew,
    random,
  })[0]
}

/** The attempt that has the fewest knobs to turn before it is there; of equals the better one. */
export function nearestTo(
  goal: PromisingPoint,
  { best }: AttemptModel,
  space: SearchState['space'],
): Attempt | undefined {
  const near = best.map((attempt) => ({ attempt, away: awayFrom(goal, attempt.knobs, space) }))
  return near.sort((a, b) => a.away - b.away)[0]?.attempt
}

/** What a step towards a goal is worth, as the logarithm of a gain: the further it still is, the less. */
export function worthTowards(goal: PromisingPoint, knobs: Knobs, space: SearchState['space']): number {
  return goal.worth + awayFrom(goal, knobs, space) * Math.log(laterByOne)
}

function awayFrom({ knobs: wanted }: PromisingPoint, knobs: Knobs, space: SearchState['space']): number {
  return Object.keys(space).filter((name) => name in wanted && knobs[name] !== wanted[name]).length
}

// Changes as a proposer might make them, thought of only to compare where they could start from: one to three knobs at random take
// another value; of two parents, that of the second where they differ.
const mostKnobsChanged = 3

interface ImagineOptions {
  readonly space: SearchState['space']
  readonly base: Knobs
  readonly partner?: Knobs | undefined
  readonly count: number
  readonly random: Random
}

/** Knobs of the base after each of so many changes; none where there is no knob to turn. */
export function imagineChanges({ space, base, partner, count, random }: ImagineOptions): Knobs[] {
  const names = Object.keys(space).filter((name) => name in base && isTurnable(space[name]))
  if (names.length === 0) return []
  return Array.from({ length: count }, () => {
    const knobs = { ...base }
    for (const name of drawn(names, 1 + random.int(mostKnobsChanged), random)) {
      const theirs = partner?.[name]
      const own = base[name]
      knobs[name] = theirs === undefined || theirs === own ? otherValue(space[name], own, random) : theirs
    }
    return knobs
  })
}

function drawn(names: readonly string[], count: number, random: Random): string[] {
  const left = [...names]
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.int(left.length), 1)).flat()
}

function otherValue(spec: KnobSpec | undefined, own: KnobValue | undefined, random: Random): KnobValue {
  if (spec?.kind === 'choice') {
    const others = spec.values.filter((value) => value !== own)
    return others[random.int(others.length)] ?? ''
  }
  if (spec === undefined) return own ?? ''
  const { low, high, log, integer } = spec
  const [turn, back] = log && low > 0 ? [Math.log, Math.exp] : [(x: number) => x, (x: number) => x]
  const value = back(turn(low) + random.float() * (turn(high) - turn(low)))
  return integer ? Math.round(value) : value
}
