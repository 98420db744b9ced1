// What people and programs say of finished work: the computed evidence, an author's word beside it, a run that must not count.
import type { Clock } from '../kernel/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database } from './database.ts'

export interface Verdicts {
  /** The numbers behind a conclusion, and what the experiment took. */
  evidence(experimentId: string, evidence: unknown, took: { costUsd?: number; wallS: number }): Promise<void>
  /** An author's word beside the computed conclusion, which stays. */
  conclude(experimentId: string, author: string, text: string): Promise<void>
  /** Takes a run out of every later comparison; its data stays. */
  invalidate(runId: string, reason: string): Promise<void>
}

export function createVerdicts(database: Database, clock: Clock): Verdicts {
  return {
    async evidence(experimentId, evidence, { costUsd, wallS }) {
      await database.query
        .updateTable('experiment')
        .set({ evidence: JSON.stringify(evidence), cost_usd: costUsd ?? null, wall_s: wallS })
        .where('id', '=', experimentId)
        .execute()
    },
    conclude: (experimentId, author, text) =>
      database.transaction(async (query) => {
        const select = query.selectFrom('experiment').select('words').where('id', '=', experimentId)
        const row = await (database.kind === 'postgres' ? select.forUpdate() : select).executeTakeFirst()
        if (row === undefined) throw new EvsysError('STORE_MISSING', `the record has no experiment ${experimentId}`)
        const words = JSON.parse(row.words) as unknown[] // written here alone
        const added = [...words, { at: new Date(clock.now()).toISOString(), author, text }]
        await query
          .updateTable('experiment')
          .set({ words: JSON.stringify(added) })
          .where('id', '=', experimentId)
          .execute()
      }),
    async invalidate(runId, reason) {
      const changed = await database.query
        .updateTable('run')
        .set({ invalid: reason })
        .where('id', '=', runId)
        .executeTakeFirst()
      if (Number(changed.numUpdatedRows) === 0) throw new EvsysError('STORE_MISSING', `the record has no run ${runId}`)
    },
  }
}
