// Experiments by id, by what people call them, by text, newest first.
import type { ExperimentQuery, ExperimentRow } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database } from './database.ts'
import { experimentRow } from './experiment-row.ts'
import { hasPrefix } from './has-prefix.ts'
import { searchWords } from './search-words.ts'

export async function readExperiment(database: Database, id: string): Promise<ExperimentRow | undefined> {
  const row = await database.query.selectFrom('experiment').selectAll().where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : experimentRow(row)
}

export async function listExperiments(
  database: Database,
  { text, limit, configHash, statuses }: ExperimentQuery,
): Promise<ExperimentRow[]> {
  if (statuses?.length === 0) return []
  let matching = database.query.selectFrom('experiment')
  if (configHash !== undefined) matching = matching.where('config_hash', '=', configHash)
  if (statuses !== undefined) matching = matching.where('status', 'in', statuses)
  if (text === undefined) {
    const newest = matching.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit)
    return (await newest.execute()).map(experimentRow)
  }
  const found = await search(database, text)
  if (found.length === 0) return []
  // By their ids first: a row holds a whole plan, and a common word is in every row.
  const ids = new Set((await matching.select('id').where('id', 'in', found).execute()).map((row) => row.id))
  const best = found.filter((id) => ids.has(id)).slice(0, limit)
  if (best.length === 0) return []
  const rows = await matching.selectAll().where('id', 'in', best).execute()
  const rank = new Map(best.map((id, i) => [id, i]))
  return rows.sort((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0)).map(experimentRow)
}

/** Nobody reads further in a list of what fits best. */
const MOST_FOUND = 1_000

async function search(database: Database, text: string): Promise<string[]> {
  const words = searchWords(text)
  return words.length === 0 ? [] : database.search(words, MOST_FOUND)
}

/** An id, a name (the newest of that name) or an unambiguous beginning of an id leads to an experiment. */
export async function findExperiment(database: Database, reference: string): Promise<ExperimentRow> {
  const all = database.query.selectFrom('experiment').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc')
  const exact =
    (await all.where('id', '=', reference).executeTakeFirst()) ??
    (await all.where('name', '=', reference).limit(1).executeTakeFirst())
  if (exact !== undefined) return experimentRow(exact)
  const [only, another] = reference === '' ? [] : await all.where(hasPrefix('id', reference)).limit(2).execute()
  if (only !== undefined && another === undefined) return experimentRow(only)
  throw new EvsysError(
    'STORE_MISSING',
    `the record has ${only === undefined ? 'no' : 'more than one'} experiment "${reference}"`,
    { fix: '`evsys history` lists them; an id, a name, or the beginning of one id will do.' },
  )
}
