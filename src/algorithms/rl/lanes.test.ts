import { describe, expect, it } from 'vitest'
import { createLanes } from './lanes.ts'

describe('lanes', () => {
  it('hold no more than their number, and let the earliest step go first (RL-111)', async () => {
    const lanes = createLanes(2)
    const order: string[] = []
    const gates: (() => void)[] = []
    let running = 0
    const enter = (step: number, name: string) =>
      lanes.run(step, async () => {
        running += 1
        expect(running).toBeLessThanOrEqual(2)
        order.push(name)
        await new Promise<void>((go) => gates.push(go))
        running -= 1
      })
    const all = [enter(2, 'a'), enter(2, 'b'), enter(2, 'late'), enter(1, 'early'), enter(1, 'early too')]
    for (let i = 0; i < all.length; i++) {
      while (gates.length === 0) await Promise.resolve()
      gates.shift()?.()
    }
    await Promise.all(all)
    expect(order).toEqual(['a', 'b', 'early', 'early too', 'late'])
  })

  it('are free again after a failure (RL-111)', async () => {
    const lanes = createLanes(1)
    await expect(lanes.run(0, async () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await expect(lanes.run(0, async () => 1)).resolves.toBe(1)
  })
})
