import { describe, expect, it } from 'vitest'
import type { Lease } from '../../src/contracts/index.ts'
import { manualClock } from '../../src/kernel/index.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

const HOUR = 3_600_000

export function describeLeases(under: StoreUnderTest): void {
  describe('a lease', () => {
    const setUp = async () => {
      const address = under.address()
      const clock = manualClock(1_800_000_000_000)
      const stores = [await openForTest(address, { clock }), await openForTest(address, { clock })] as const
      return { clock, ann: stores[0].leases, bob: stores[1].leases }
    }
    const held = (lease: Lease | undefined): Lease => {
      if (lease === undefined) throw new Error('the lease was not given')
      return lease
    }

    it('has one holder, until it is released (STO-9)', async () => {
      const { ann, bob } = await setUp()
      const lease = held(await ann.acquire('exp', 'ann', 1000, 'pid 1'))
      expect(lease).toEqual({ name: 'exp', owner: 'ann', epoch: 1 })
      expect(await bob.acquire('exp', 'bob', 1000)).toBeUndefined()
      expect(await bob.holder('exp')).toEqual({ ...lease, note: 'pid 1', untilMs: 1_800_000_001_000 })
      expect(await bob.acquire('other', 'bob', 1000)).toMatchObject({ epoch: 1 })
      await ann.release(lease)
      expect(await bob.holder('exp')).toBeUndefined()
      expect(await bob.acquire('exp', 'bob', 1000)).toEqual({ name: 'exp', owner: 'bob', epoch: 2 })
      await ann.release(lease) // of somebody else's lease: nothing happens
      expect(await bob.holder('exp')).toMatchObject({ owner: 'bob' })
    })

    it('that is not renewed in time goes to whoever asks, and its old holder is told (STO-9)', async () => {
      const { clock, ann, bob } = await setUp()
      const lease = held(await ann.acquire('exp', 'ann', 1000))
      await clock.advance(999)
      expect(await ann.renew(lease, 1000)).toBe(true)
      await clock.advance(999)
      expect(await bob.acquire('exp', 'bob', 1000)).toBeUndefined()
      await clock.advance(1)
      expect(await ann.holder('exp')).toBeUndefined()
      expect(await bob.acquire('exp', 'bob', 1000)).toMatchObject({ epoch: 2 })
      expect(await ann.renew(lease, 1000)).toBe(false)
      expect(await ann.acquire('exp', 'ann', 1000)).toBeUndefined()
      expect(await bob.holder('exp')).toMatchObject({ owner: 'bob' })
    })

    it('that was late but not taken is still held (STO-9)', async () => {
      const { clock, ann } = await setUp()
      const lease = held(await ann.acquire('exp', 'ann', 1000))
      await clock.advance(HOUR)
      expect(await ann.renew(lease, 1000)).toBe(true)
      expect(await ann.holder('exp')).toMatchObject({ owner: 'ann' })
    })

    it('asked for again by its owner is a new one, which shuts out the old (STO-9)', async () => {
      const { ann } = await setUp()
      const old = held(await ann.acquire('exp', 'ann', 1000))
      const next = held(await ann.acquire('exp', 'ann', 1000))
      expect(next.epoch).toBe(2)
      expect(await ann.renew(old, 1000)).toBe(false)
      expect(await ann.renew(next, 1000)).toBe(true)
    })

    it('of a holder that is known to be gone can be taken at once, by one (STO-9)', async () => {
      const { ann, bob } = await setUp()
      const lease = held(await ann.acquire('exp', 'ann', HOUR))
      const taken = await Promise.all([bob.takeOver(lease, 'bob', 1000), ann.takeOver(lease, 'cleo', 1000)])
      expect(taken.filter((each) => each !== undefined)).toHaveLength(1)
      expect(await ann.renew(lease, 1000)).toBe(false)
      expect(await bob.takeOver(lease, 'bob', 1000)).toBeUndefined()
    })

    it('is given to one of many who ask at once, also the first time (STO-9)', async () => {
      const { clock, ann, bob } = await setUp()
      for (let round = 0; round < 5; round++) {
        const asked = Array.from({ length: 6 }, (_, i) =>
          (i % 2 ? ann : bob).acquire(`exp ${round % 2}`, `owner ${i}`, 1000),
        )
        expect((await Promise.all(asked)).filter((each) => each !== undefined)).toHaveLength(1)
        await clock.advance(1000)
      }
    })

    it('does not outlive a clock that is set back (STO-9)', async () => {
      const { clock, ann, bob } = await setUp()
      const lease = held(await ann.acquire('exp', 'ann', 1000))
      clock.set(clock.now() - HOUR)
      expect(await ann.renew(lease, 1000)).toBe(true) // who lives, goes on
      expect(await bob.acquire('exp', 'bob', 1000)).toBeUndefined()
      clock.set(clock.now() - HOUR)
      expect(await bob.acquire('exp', 'bob', 1000)).toMatchObject({ epoch: 2 }) // who died, blocks nobody for an hour
      expect(await ann.renew(lease, 1000)).toBe(false)
    })

    it('runs on the time of the machine, or of the server, when none is given (STO-9)', async () => {
      const store = await openForTest(under.address())
      await store.leases.acquire('exp', 'ann', HOUR)
      const holder = await store.leases.holder('exp')
      expect(Math.abs((holder?.untilMs ?? 0) - Date.now() - HOUR)).toBeLessThan(HOUR / 2)
    })
  })
}
