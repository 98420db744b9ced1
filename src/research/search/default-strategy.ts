// Asks for many ideas and runs the one from which a model of what helped before expects most. When nothing gets better it looks
// wider: bases further down the list, those first around which the model imagines most, and two candidates together.
import * as z from 'zod'
import type { Attempt, CandidateIdea, Context, Random, SearchRequest, SearchState } from '../../contracts/index.ts'
import { defineStrategy } from '../../kernel/index.ts'
import { attemptModel } from '../surrogate/attempt-model.ts'
import { logExpectedImprovement } from '../surrogate/gaussian-process.ts'
import { farGoal, mostPromising, nearestTo, type Origin, worthTowards } from './most-promising.ts'
import { isKept, requestFrom, stalledFor } from './strategies.ts'

const params = z.strictObject({
  ideas: z.int().min(1).max(100).default(24).describe('Ideas to ask for at a time; a proposer may answer with fewer.'),
  run: z.int().min(1).max(100).default(1).describe('Ideas of one answer that are run.'),
  boldness: z
    .number()
    .min(0)
    .max(10)
    .default(1)
    .describe('Weight of what the model does not know: 0 trusts what it believes, 1 also how sure it is.'),
  plateau: z
    .int()
    .min(1)
    .max(10_000)
    .default(10)
    .describe('Experiments without a better one after which it looks wider.'),
})
type Params = z.output<typeof params>

/** Bases that are compared on a plateau: so many of the best, and as many of the better half. */
const compared = 6
/** How often each of the three best is the base otherwise. */
const shares = [0.7, 0.2, 0.1]

export const defaultStrategy = defineStrategy({
  kind: 'default',
  summary: 'Ranks many ideas by a model of what helped before, never repeats one, and looks wider on a plateau.',
  params,
  next(state, context) {
    const model = attemptModel(state)
    const avoidFamilies = tiredFamilies(state.attempts, state.banned)
    const { ideas, boldness, plateau } = context.params
    if (model.best.length === 0)
      return requestFrom(state, { parents: [state.incumbent], mode: 'improve', ideas, avoidFamilies })
    const stalled = stalledFor(state)
    const usual = choose(model.best, stalled, context, state.attempts.length)
    const random = context.random('imagine', state.attempts.length)
    const options = { model, state, boldness, random }
    const wider = stalled < plateau ? [] : [...basesOf(model.best, random), usual]
    const around = mostPromising(wider, options)
    const { parents, mode } = around ?? usual
    const request = { parents: parents.map(({ id }) => id), mode, ideas, avoidFamilies }
    if ((state.rules ?? 1) < 2) return requestFrom(state, request)
    if (exploresNow(stalled, plateau))
      return requestFrom(state, { ...request, parents: request.parents.slice(0, 1), mode: 'explore' })
    const goal = isOnFalsePeak(stalled, plateau) ? farGoal(options) : undefined
    const near = goal && nearestTo(goal, model, state.space)
    if (goal === undefined || near === undefined || !(goal.worth > (around?.worth ?? 0)))
      return requestFrom(state, request)
    return requestFrom(state, { ...request, parents: [near.id], mode: 'diversify' })
  },
  rank(candidates, state, context) {
    const { params, request } = context
    const model = attemptModel(state)
    const isSecond = (state.rules ?? 1) >= 2
    const boldness = params.boldness * (isSecond && request.mode === 'explore' ? exploring.boldness : 1)
    const random = context.random('goal', state.attempts.length)
    const isLost = isSecond && request.mode !== 'explore' && isOnFalsePeak(stalledFor(state), params.plateau)
    const goal = isLost ? farGoal({ model, state, boldness, random }) : undefined
    const worth = candidates.map((candidate) => {
      const { mean, sd } = model.predict(candidate, request.parents)
      const own = logExpectedImprovement(mean, boldness * sd, model.top)
      return goal === undefined ? own : Math.max(own, worthTowards(goal, candidate.knobs, state.space))
    })
    return allowed(candidates, state, request)
      .sort((a, b) => (worth[b] ?? 0) - (worth[a] ?? 0) || a - b)
      .slice(0, params.run)
  },
})

/** From so far on its way to a plateau, a search departs at every fourth experiment, and gives what it does not know twice the weight. */
const exploring = { from: 0.7, every: 4, boldness: 2 }

function exploresNow(stalled: number, plateau: number): boolean {
  return stalled >= exploring.from * plateau && stalled % exploring.every === exploring.every - 1
}

/** Plateaus after which the peak of a search is taken for a false one. */
const falsePeakAfter = 3

// Where nothing near the best has been better for so long, the peak may be a false one: the model is asked for the most promising place of
// the whole space, and steps lead there, though none of them need be better itself. Most plateaus are shorter: left at once, searches that
// were on their way took longer.
function isOnFalsePeak(stalled: number, plateau: number): boolean {
  return stalled >= falsePeakAfter * plateau
}

function basesOf(best: readonly Attempt[], random: Random): Origin[] {
  const half = best.slice(0, Math.ceil(best.length / 2))
  return [
    ...best.slice(0, compared).map((base): Origin => ({ parents: [base], mode: 'improve' })),
    ...random
      .shuffle(half.slice(compared))
      .slice(0, compared)
      .map((base): Origin => ({ parents: [base], mode: 'diversify' })),
  ]
}

function choose(
  best: readonly Attempt[],
  stalled: number,
  { params, random }: Context<Params>,
  number: number,
): Origin {
  const draw = random('parent', number)
  const at = (place: number): Attempt => best[Math.min(place, best.length - 1)] as Attempt // there is at least one
  const share = draw.float()
  const top = at(shares.findIndex((_, i) => share < shares.slice(0, i + 1).reduce((a, b) => a + b) || i === 2))
  if (stalled < params.plateau) return { parents: [top], mode: 'improve' }
  if (draw.float() < 0.5) {
    const pool = Math.max(shares.length + 1, Math.min(Math.round(best.length / 2), 2 * stalled))
    return { parents: [at(draw.int(pool))], mode: 'diversify' }
  }
  const partners = partnersOf(top, best)
  const partner = partners[draw.int(Math.max(1, partners.length))]
  return partner === undefined ? { parents: [top], mode: 'improve' } : { parents: [top, partner], mode: 'combine' }
}

// Ideas of families to avoid run only when there is nothing else, those of banned families never.
function allowed(
  candidates: readonly CandidateIdea[],
  { banned }: SearchState,
  { avoidFamilies }: SearchRequest,
): number[] {
  const places = candidates.map((_, place) => place)
  const familyAt = (place: number) => candidates[place]?.idea.family ?? ''
  const open = places.filter((place) => !banned.includes(familyAt(place)))
  const fresh = open.filter((place) => !avoidFamilies.includes(familyAt(place)))
  return fresh.length > 0 ? fresh : open
}

// Against tunnel vision: a family that was tried too often in a row without a keep has to wait for another.
/** Most attempts of one family in a row that keep nothing. */
export const familyCap = 3

/** The family to leave out next, if another one is known. */
export function tiredFamilies(attempts: readonly Attempt[], banned: readonly string[]): string[] {
  const tried = attempts.filter(({ number }) => number > 0)
  const last = tried.slice(-familyCap)
  const family = last[0]?.family
  if (family === undefined || last.length < familyCap) return []
  if (last.some((attempt) => attempt.family !== family || isKept(attempt))) return []
  // A proposer of a single family would have nothing left to say.
  const others = tried.some((attempt) => attempt.family !== family && !banned.includes(attempt.family))
  return others ? [family] : []
}

// Ideas that were almost good enough, to be tried together.
const mostPartners = 10

/** What may be combined with a base: near misses that do not hold it already, then what the model believes in. */
function partnersOf(base: Attempt, best: readonly Attempt[]): readonly Attempt[] {
  const others = best.filter(({ id, parents, fingerprint }) => {
    return id !== base.id && fingerprint !== base.fingerprint && !parents.includes(base.id)
  })
  const misses = others.filter(({ verdict }) => verdict === 'inconclusive')
  if (misses.length > 0) return misses.slice(0, mostPartners)
  return best.filter(({ id, fingerprint }) => id !== base.id && fingerprint !== base.fingerprint).slice(0, mostPartners)
}
