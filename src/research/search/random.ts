import { defineStrategy } from '../../kernel/index.ts'
import { requestFrom } from './request-from.ts'

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
