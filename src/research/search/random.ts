import { defineStrategy } from '../../kernel/index.ts'
import { requestFrom } from './request-from.ts'

export const random = defineStrategy({
  kind: 'random',
  summary: 'Departs from the baseline every time and learns nothing.',
  repeats: 'run again',
  next: (state) =>
    requestFrom(state, { parents: [state.attempts[0]?.id ?? state.incumbent], mode: 'explore', ideas: 1 }),
})
