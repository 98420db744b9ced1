// Leases: who may act now. A lease that was not renewed in time belongs to whoever asks next, under a higher epoch; the old
// holder learns at its next renewal that it lost it and stops (fencing). Also how cores of a machine are shared.
import type { Clock } from '../kernel/index.ts'
import type { Database } from './database.ts'

export interface Lease {
  readonly name: string
  readonly owner: string
  readonly epoch: number
}

export interface Leases {
  /** The lease, or undefined while somebody else holds it. */
  acquire(name: string, owner: string, ttlMs: number, note?: string): Promise<Lease | undefined>
  /** False: it was lost. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  /** Who holds it now. */
  holder(name: string): Promise<{ owner: string; note: string; untilMs: number } | undefined>
}

export function createLeases(database: Database, clock: Clock): Leases {
  return {
    acquire: (name, owner, ttlMs, note = '') =>
      database.transaction(async (query) => {
        const now = clock.now()
        const select = query.selectFrom('lease').selectAll().where('name', '=', name)
        const held = await (database.kind === 'postgres' ? select.forUpdate() : select).executeTakeFirst()
        if (held !== undefined && held.owner !== owner && held.until_ms > now) return undefined
        const row = { owner, epoch: (held?.epoch ?? 0) + 1, until_ms: now + ttlMs, note }
        const taken = await query
          .insertInto('lease')
          .values({ name, ...row })
          // Two first-comers on PostgreSQL: neither found a row to lock, and only the first of them may have it.
          .onConflict((conflict) => conflict.column('name').doUpdateSet(row).where('lease.epoch', '<', row.epoch))
          .returning('epoch')
          .executeTakeFirst()
        return taken === undefined ? undefined : { name, owner, epoch: row.epoch }
      }),
    async renew({ name, owner, epoch }, ttlMs) {
      const renewed = await database.query
        .updateTable('lease')
        .set({ until_ms: clock.now() + ttlMs })
        .where('name', '=', name)
        .where('owner', '=', owner)
        .where('epoch', '=', epoch)
        .executeTakeFirst()
      return Number(renewed.numUpdatedRows) === 1
    },
    // The row stays: the next holder's epoch must be higher than every epoch before it.
    async release({ name, owner, epoch }) {
      await database.query
        .updateTable('lease')
        .set({ until_ms: 0 })
        .where('name', '=', name)
        .where('owner', '=', owner)
        .where('epoch', '=', epoch)
        .execute()
    },
    async holder(name) {
      const row = await database.query.selectFrom('lease').selectAll().where('name', '=', name).executeTakeFirst()
      if (row === undefined || row.until_ms <= clock.now()) return undefined
      return { owner: row.owner, note: row.note, untilMs: row.until_ms }
    },
  }
}
