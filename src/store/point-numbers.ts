// Small numbers for run ids and metric names, so that a point is five numbers. They are given outside of transactions, in
// sorted order: a number once read stays valid whatever is rolled back, and two processes never wait for each other in a circle.
import { EvsysError } from '../kernel/index.ts'
import type { Database } from './database.ts'

export interface PointNumbers {
  /** Number of a run that is in the record. */
  ofRun(runId: string): Promise<number>
  /** Numbers of metric names; new ones are added. */
  ofKeys(names: ReadonlySet<string>): Promise<ReadonlyMap<string, number>>
}

const MOST_KEPT = 20_000
const NAMES_AT_ONCE = 500

export function createPointNumbers(database: Database): PointNumbers {
  const runs = new Map<string, number>()
  const keys = new Map<string, number>()
  return {
    async ofRun(runId) {
      const known = runs.get(runId)
      if (known !== undefined) return known
      const row = await database.query.selectFrom('run').select('ix').where('id', '=', runId).executeTakeFirst()
      if (row === undefined) throw new EvsysError('STORE_MISSING', `the record has no run ${runId}`)
      if (runs.size >= MOST_KEPT) runs.clear()
      runs.set(runId, row.ix)
      return row.ix
    },
    async ofKeys(names) {
      const missing = [...names].filter((name) => !keys.has(name))
      if (missing.length === 0) return keys
      const found = await lookUp(database, missing.sort())
      for (const name of names) found.set(name, found.get(name) ?? keys.get(name) ?? -1)
      if (keys.size + found.size > MOST_KEPT) keys.clear()
      for (const [name, ix] of found) keys.set(name, ix)
      return found
    },
  }
}

async function lookUp(database: Database, names: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let start = 0; start < names.length; start += NAMES_AT_ONCE) {
    const some = names.slice(start, start + NAMES_AT_ONCE)
    const read = () => database.query.selectFrom('metric_key').selectAll().where('name', 'in', some).execute()
    let rows = await read()
    if (rows.length < some.length) {
      await database.query
        .insertInto('metric_key')
        .values(some.map((name) => ({ name })))
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute()
      rows = await read()
    }
    for (const { name, ix } of rows) found.set(name, ix)
  }
  return found
}
