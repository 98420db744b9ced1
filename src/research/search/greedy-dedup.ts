// Hill climbing that never repeats itself: near changes first, further ones when they run out of luck.
import type { CandidateIdea, Knobs } from '../../contracts/index.ts'
import { defineStrategy } from '../../kernel/index.ts'
import { requestFrom } from './request-from.ts'
import { discardsInARow } from './standing.ts'

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
