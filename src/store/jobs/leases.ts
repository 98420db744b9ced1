// Leases in the record. Whether one may be taken is decided by the statement that takes it, so that of two who come at once
// only one gets it, on one machine or on many.
import type { Lease, Leases } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { Database, Queryable } from '../database/database.ts'
import { checkedName } from '../database/stored-values.ts'

/** Time that all holders agree on. */
export type Now = () => Promise<number>

export function createLeases(database: Database, now: Now): Leases {
  return {
    async acquire(name, owner, ttlMs, note = '') {
      const nowMs = await now()
      const row = { owner: checkedName('lease owner', owner), ...until(nowMs, ttlMs), note }
      const taken = await database.query
        .insertInto('lease')
        .values({ name: checkedName('lease name', name), epoch: 1, ...row })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet((held) => ({ ...row, epoch: held('lease.epoch', '+', 1) }))
            .where((held) =>
              held.or([
                held('lease.owner', '=', owner),
                held('lease.until_ms', '<=', nowMs),
                // It ends later than any lease taken by now could: the clock was set back, and the end means nothing.
                held(held('lease.until_ms', '-', held.ref('lease.ttl_ms')), '>', nowMs),
              ]),
            ),
        )
        .returning('epoch')
        .executeTakeFirst()
      return taken === undefined ? undefined : { name, owner, epoch: taken.epoch }
    },
    async takeOver(held, owner, ttlMs, note = '') {
      const epoch = held.epoch + 1
      const end = until(await now(), ttlMs)
      const taken = await ofLease(database.query, held)
        .set({ owner: checkedName('lease owner', owner), epoch, ...end, note })
        .executeTakeFirst()
      return taken.numUpdatedRows === 1n ? { name: held.name, owner, epoch } : undefined
    },
    async renew(lease, ttlMs) {
      const renewed = await ofLease(database.query, lease)
        .set(until(await now(), ttlMs))
        .executeTakeFirst()
      return renewed.numUpdatedRows === 1n
    },
    // The row stays: the next holder's epoch must be higher than every epoch before it.
    async release(lease) {
      await ofLease(database.query, lease).set({ until_ms: 0 }).execute()
    },
    async holder(name) {
      const row = await database.query.selectFrom('lease').selectAll().where('name', '=', name).executeTakeFirst()
      if (row === undefined || row.until_ms <= (await now())) return undefined
      return { name, owner: row.owner, epoch: row.epoch, note: row.note, untilMs: row.until_ms }
    },
  }
}

function until(nowMs: number, ttlMs: number): { until_ms: number; ttl_ms: number } {
  return { until_ms: Math.ceil(nowMs + ttlMs), ttl_ms: Math.ceil(ttlMs) }
}

function ofLease(query: Queryable, { name, owner, epoch }: Lease) {
  return query.updateTable('lease').where('name', '=', name).where('owner', '=', owner).where('epoch', '=', epoch)
}

/** An error unless the lease still has its holder; no one can take it until the transaction ends. */
export async function requireHeld(database: Database, query: Queryable, lease: Lease): Promise<void> {
  const select = query
    .selectFrom('lease')
    .select('epoch')
    .where('name', '=', lease.name)
    .where('owner', '=', lease.owner)
    .where('epoch', '=', lease.epoch)
  const held = await (database.kind === 'postgres' ? select.forShare() : select).executeTakeFirst()
  if (held !== undefined) return
  throw new EvsysError('STORE_CONFLICT', `"${lease.name}" was taken over by another process`, {
    fix: 'this process stops; the other one continues.',
  })
}
