// The loop that others are measured against: samples its parent from the best three, departs at every fifth experiment, and leaves
// the best after five discards. It remembers nothing else.
import { defineStrategy } from '../../kernel/index.ts'
import { requestFrom } from './request-from.ts'
import { discardsInARow, ranked } from './standing.ts'

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
      return requestFrom(state, {
        parents: [others[draw.int(others.length)] ?? best],
        mode: 'diversify',
        ideas: 1,
      })
    }
    const share = draw.float()
    const parent = share < 0.7 ? best : share < 0.9 ? top[1] : top[2]
    return requestFrom(state, { parents: [parent ?? best], mode: 'improve', ideas: 1 })
  },
})
