import { describe, expect, it } from 'vitest'
import { pluginCard } from '../kernel/index.ts'
import { sft } from './sft.ts'
import { scoreOnly } from './without-batches.ts'

describe('score_only', () => {
  it('takes no rows, so that it stands beside recipes of any kind of rows, and their shared params (LAB-50)', () => {
    const place = { origin: 'built-in', hash: '' }
    expect(pluginCard(scoreOnly, place).facts).toEqual({ drives: 'its run' })
    expect(pluginCard(sft, place).facts).toEqual({ rowFormat: 'chat_messages' })
    expect(scoreOnly.params.parse({ max_steps: 3, learning_rate: 0.1 })).toMatchObject({ max_steps: 3 })
    expect(scoreOnly.params.safeParse({ nope: 1 }).success).toBe(false)
  })
})
