// What people and programs say of finished work: the computed evidence, an author's word beside it, a run that must not count.
import type { Verdicts } from '../contracts/index.ts'
import { type Clock, EvsysError } from '../kernel/index.ts'
import type { Database, Queryable } from './database.ts'
import { Words } from './experiment-row.ts'
import { indexExperiment } from './index-experiment.ts'
import { parseStored } from './parse-stored.ts'
import { noteColumns } from './run-row.ts'
import type { RunTable } from './tables.ts'

export function createVerdicts(database: Database, clock: Clock): Verdicts {
  return {
    async evidence(experimentId, evidence, { costUsd, wallS }) {
      const changed = await database.query
        .updateTable('experiment')
        .set({ evidence: JSON.stringify(evidence ?? null), cost_usd: costUsd ?? null, wall_s: wallS })
        .where('id', '=', experimentId)
        .executeTakeFirst()
      if (changed.numUpdatedRows === 0n) throw missing('experiment', experimentId)
    },
    conclude: (experimentId, author, text) =>
      database.transaction(async (query) => {
        const select = query.selectFrom('experiment').select('words').where('id', '=', experimentId)
        const row = await (database.kind === 'postgres' ? select.forUpdate() : select).executeTakeFirst()
        if (row === undefined) throw missing('experiment', experimentId)
        const known = parseStored(Words, row.words, `words of experiment ${experimentId}`)
        const words = JSON.stringify([...known, { at: new Date(clock.now()).toISOString(), author, text }])
        await query.updateTable('experiment').set({ words }).where('id', '=', experimentId).execute()
        await indexExperiment(query, experimentId)
      }),
    invalidate: (runId, reason) => setRun(database.query, runId, { invalid: reason }),
    note: (runId, notes) => setRun(database.query, runId, noteColumns(notes)),
  }
}

async function setRun(query: Queryable, runId: string, columns: Partial<RunTable>): Promise<void> {
  const { ix: _ix, ...changed } = columns
  if (Object.keys(changed).length === 0) return
  const updated = await query.updateTable('run').set(changed).where('id', '=', runId).executeTakeFirst()
  if (updated.numUpdatedRows === 0n) throw missing('run', runId)
}

function missing(what: string, id: string): EvsysError {
  return new EvsysError('STORE_MISSING', `the record has no ${what} ${id}`, {
    fix: '`evsys history` lists what there is.',
  })
}
