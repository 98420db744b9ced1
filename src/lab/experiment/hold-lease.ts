// One controller per experiment. The lease is renewed while it works; a controller that lost it, because it slept too long and
// another took over, stops at once. A holder of this machine that is known to be dead is not waited for.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import * as z from 'zod'
import type { Lease, Leases } from '../../contracts/index.ts'
import { EvsysError, identify, isAlive } from '../../kernel/index.ts'

const LEASE_MS = 15_000

const Owner = z.object({ host: z.string(), pid: z.int(), start: z.string() })

export interface HeldLease extends AsyncDisposable {
  readonly lease: Lease
}

/** Holds the lease until it is disposed of; `lost` is aborted if another process gets it. */
export async function holdLease(leases: Leases, name: string, lost: AbortController): Promise<HeldLease> {
  const self = { host: hostname(), ...identify() }
  const owner = JSON.stringify({ ...self, holding: randomUUID() }) // two in one process are two
  const note = `process ${self.pid} on ${self.host}`
  const lease = (await leases.acquire(name, owner, LEASE_MS, note)) ?? (await takeFromDead(leases, name, owner, note))
  if (lease === undefined) {
    const holder = await leases.holder(name)
    throw new EvsysError(
      'STORE_CONFLICT',
      `another evsys works on this experiment (${holder?.note ?? 'it just ended'})`,
      { fix: 'wait until it has ended, or stop it; then run this again' },
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
    lease,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await leases.release(lease).catch(() => {}) // it ends by itself, and this process is known to be gone
    },
  }
}

async function takeFromDead(leases: Leases, name: string, owner: string, note: string) {
  const held = await leases.holder(name)
  const parsed = held === undefined ? undefined : ownerOf(held.owner)
  if (held === undefined || parsed === undefined || parsed.host !== hostname() || isAlive(parsed)) return undefined
  return leases.takeOver(held, owner, LEASE_MS, note)
}

function ownerOf(text: string): z.infer<typeof Owner> | undefined {
  try {
    return Owner.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
