// One controller per experiment. The lease is renewed while it works; a controller that lost it, because it slept too long and
// another took over, stops at once.
import { hostname } from 'node:os'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { Leases } from '../../store/index.ts'

const LEASE_MS = 15_000

export async function holdLease(
  leases: Leases,
  name: string,
  clock: Clock,
  lost: AbortController,
): Promise<AsyncDisposable> {
  const owner = `${hostname()}:${process.pid}:${clock.now()}`
  const lease = await leases.acquire(name, owner, LEASE_MS, `process ${process.pid}`)
  if (lease === undefined) {
    const holder = await leases.holder(name)
    throw new EvsysError(
      'STORE_CONFLICT',
      `another evsys works on this experiment (${holder?.note ?? 'unknown process'})`,
      {
        fix: 'wait until it has ended; after a crash that takes a quarter of a minute',
      },
    )
  }
  const timer = setInterval(() => {
    leases.renew(lease, LEASE_MS).then(
      (isHeld) => {
        if (!isHeld) lost.abort(new EvsysError('STORE_CONFLICT', 'another process took over this experiment'))
      },
      () => {}, // a busy moment; the next renewal tells
    )
  }, LEASE_MS / 5)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await leases.release(lease)
    },
  }
}
