// The loop that others are measured against: samples its parent from the best three, departs at every fifth experiment, and leaves
// the best after five discards. It remembers nothing else.
import type { Attempt, CandidateIdea, Knobs, SearchRequest, SearchState } from '../../contracts/index.ts'
import { defineStrategy } from '../../kernel/index.ts'
import { meritOf } from '../surrogate/attempt-model.ts'

const exploreEvery = 5
const discardsBeforeDiversify = 5

export const reference = defineStrategy({
  kind: 'reference',
  summary:
    'Samples from the best three by 70, 20 and 10 %, explores every fifth time, leaves the best after five discards.',
  repeats: 'run again',
  next(state, { random }) {
    const draw = random('parent', state.attempts.length)
    const top = ranked(state)
      .slice(0, 3)
      .map(({ attempt }) => attempt.id)
    const best = top[0] ?? state.incumbent
    const others = top.slice(1)
    if (state.attempts.length % exploreEvery === 0) {
      return requestFrom(state, { parents: [best], mode: 'explore', ideas: 1 })
    }
    if (discardsInARow(state.attempts) >= discardsBeforeDiversify && others.length > 0) {
      return requestFrom(state, { parents: [others[draw.int(others.length)] ?? best], mode: 'diversify', ideas: 1 })
    }
    const share = draw.float()
    const parent = share < 0.7 ? best : share < 0.9 ? top[1] : top[2]
    return requestFrom(state, { parents: [parent ?? best], mode: 'improve', ideas: 1 })
  },
})

export const greedy = defineStrategy({
  kind: 'greedy',
  summary: 'Always changes the incumbent, whatever was tried before.',
  repeats: 'run again',
  next: (state) => requestFrom(state, { parents: [state.incumbent], mode: 'improve', ideas: 1 }),
})

// Hill climbing that never repeats itself: near changes first, further ones when they run out of luck.
const ideas = 8
/** Discards in a row after which one more knob may change at once. */
const widenAfter = 20

export const greedyDedup = defineStrategy({
  kind: 'greedy-dedup',
  summary:
    'Always changes the incumbent, never repeats a candidate, and changes more at once the longer nothing is kept.',
  next: (state) => requestFrom(state, { parents: [state.incumbent], mode: 'improve', ideas }),
  rank(candidates, state, { request }) {
    const base = state.attempts.find(({ id }) => id === request.parents[0])?.knobs ?? {}
    const radius = 1 + Math.floor(discardsInARow(state.attempts) / widenAfter)
    const open = candidates
      .map((_, place) => place)
      .filter((place) => !state.banned.includes(familyAt(candidates, place)))
    const distances = candidates.map(({ knobs }) => changed(base, knobs))
    const near = open.filter((place) => (distances[place] ?? 0) <= radius)
    const nearest = [...open].sort((a, b) => (distances[a] ?? 0) - (distances[b] ?? 0) || a - b)
    return (near.length > 0 ? near : nearest).slice(0, 1)
  },
})

function familyAt(candidates: readonly CandidateIdea[], place: number): string {
  return candidates[place]?.idea.family ?? ''
}

function changed(from: Knobs, to: Knobs): number {
  const names = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...names].filter((name) => from[name] !== to[name]).length
}

export const random = defineStrategy({
  kind: 'random',
  summary: 'Departs from any candidate that was tried, whatever it scored, and learns nothing.',
  repeats: 'run again',
  next(state, { random }) {
    const { attempts, incumbent } = state
    const any = attempts[random('parent', attempts.length).int(Math.max(1, attempts.length))]
    return requestFrom(state, { parents: [any?.id ?? incumbent], mode: 'explore', ideas: 1 })
  },
})

// What a person asked for goes before what a strategy would do: a pinned attempt is the base, banned families are avoided.
/** A request of a strategy, with the wishes of the person who steers. */
export function requestFrom(
  { pinned, banned, attempts }: SearchState,
  { parents, mode, ideas, avoidFamilies }: Omit<SearchRequest, 'avoidFamilies'> & Partial<SearchRequest>,
): SearchRequest {
  const held = pinned !== undefined && attempts.some(({ id }) => id === pinned) ? pinned : undefined
  return {
    parents: held === undefined ? parents : [held],
    mode: held !== undefined && mode === 'combine' ? 'improve' : mode,
    ideas,
    avoidFamilies: [...new Set([...banned, ...(avoidFamilies ?? [])])],
  }
}

// Where a session stands, as strategies see it: what was measured, best first, and how long nothing was kept.
/** An attempt with its score, turned so that more is better. */
type Scored = { readonly attempt: Attempt; readonly merit: number }

/** Attempts with a score, best first; of equals the older one. */
function ranked({ attempts, direction }: Pick<SearchState, 'attempts' | 'direction'>): Scored[] {
  const scored: Scored[] = []
  for (const attempt of attempts) {
    const merit = meritOf(attempt, direction)
    if (merit !== undefined) scored.push({ attempt, merit })
  }
  return scored.sort((a, b) => b.merit - a.merit || a.attempt.number - b.attempt.number)
}

/** Judged attempts since the last one that was kept; the baseline counts as kept. */
function discardsInARow(attempts: readonly Attempt[]): number {
  let count = 0
  for (let place = attempts.length - 1; place >= 0; place--) {
    const attempt = attempts[place]
    if (attempt === undefined || attempt.verdict === undefined) continue
    if (isKept(attempt)) break
    count++
  }
  return count
}

export function isKept({ number, verdict }: Pick<Attempt, 'number' | 'verdict'>): boolean {
  return number === 0 || verdict === 'provisional' || verdict === 'confirmed'
}

// How long the search has stood still, by what was measured: verdicts wait for seeds, a plateau should not.
/** Judged attempts since the best one. */
export function stalledFor({ attempts, direction }: Pick<SearchState, 'attempts' | 'direction'>): number {
  let best = Number.NEGATIVE_INFINITY
  let since = 0
  for (const attempt of attempts) {
    const merit = meritOf(attempt, direction)
    if (merit !== undefined && merit > best) {
      best = merit
      since = 0
    } else if (attempt.verdict !== undefined) since++
  }
  return since
}
