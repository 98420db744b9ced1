import { defineStrategy } from '../../kernel/index.ts'
import { requestFrom } from './request-from.ts'

export const greedy = defineStrategy({
  kind: 'greedy',
  summary: 'Always changes the incumbent, whatever was tried before.',
  repeats: 'run again',
  next: (state) => requestFrom(state, { parents: [state.incumbent], mode: 'improve', ideas: 1 }),
})
