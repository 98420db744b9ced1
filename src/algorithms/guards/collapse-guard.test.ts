import { describe, expect, it } from 'vitest'
import { createCollapseGuard } from './collapse-guard.ts'

const settled = (losses: readonly number[] = Array.from({ length: 20 }, (_, i) => 2 + (i % 5) * 0.01)) => {
  const guard = createCollapseGuard()
  for (const loss of losses) expect(guard.look(loss)).toBeUndefined()
  return guard
}

describe('the guard of training', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'sees that %s is no loss (LAB-42)',
    (loss) => {
      expect(createCollapseGuard().look(loss)).toBe('nan')
    },
  )

  it('sees a loss far above what it has seen, and lets a noisy one pass (LAB-42)', () => {
    expect(settled().look(3)).toBeUndefined()
    expect(settled().look(30)).toBe('spike')
  })

  it('lets a hard row pass where nearly all is learnt (LAB-42)', () => {
    const learnt = Array.from({ length: 20 }, (_, i) => 0.001 + (i % 3) * 0.0005)
    expect(settled(learnt).look(0.4)).toBeUndefined()
    expect(settled(learnt).look(4)).toBe('spike')
  })

  it('needs a normal range first: the first steps may be wild (LAB-42)', () => {
    const guard = createCollapseGuard()
    for (const loss of [1, 100, 1, 5000]) expect(guard.look(loss)).toBeUndefined()
  })

  it('is not widened by the spike it found, and starts anew after a roll-back (LAB-42)', () => {
    const guard = settled()
    expect([guard.look(30), guard.look(30)]).toEqual(['spike', 'spike'])
    guard.reset()
    expect(guard.look(30)).toBeUndefined()
  })

  it('has nothing to say of a step without a loss, nor of a loss that rises slowly or is flat at zero (LAB-42)', () => {
    expect(settled().look(undefined)).toBeUndefined()
    settled(Array.from({ length: 200 }, (_, i) => 1 + i * 0.02))
    expect(settled(Array.from({ length: 30 }, () => 0)).look(0)).toBeUndefined()
  })
})
