import { describe, expect, it } from 'vitest'
import { InfraGuard } from './benchmark-trials.ts'

describe('attempts that fail by infrastructure', () => {
  it('end the rest once they are most of enough (AGT-16)', () => {
    const guard = new InfraGuard(5)
    for (const failure of ['a', 'b', 'c', 'd']) guard.ended(failure)
    expect(guard.stopped).toBeUndefined()
    guard.ended('no room')
    expect(guard.stopped).toMatchObject({ code: 'ENVIRONMENT_FAILED' })
    expect(guard.stopped?.message).toContain('5 of 5 attempts failed by infrastructure, the last with: no room')
  })

  it('are borne while at least half of all is well (AGT-16)', () => {
    const guard = new InfraGuard(2)
    for (let i = 0; i < 10; i++) {
      guard.ended(undefined)
      guard.ended('now and then')
    }
    expect(guard.stopped).toBeUndefined()
  })
})
