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
  const found = text === undefined ? undefined : await search(database, text)
  if (found?.length === 0 || statuses?.length === 0) return []
  let query = database.query.selectFrom('experiment').selectAll()
  if (found !== undefined) query = query.where('id', 'in', found)
  if (configHash !== undefined) query = query.where('config_hash', '=', configHash)
  if (statuses !== undefined) query = query.where('status', 'in', statuses)
  if (found === undefined) query = query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit)
  const rows = await query.execute()
  const rank = new Map(found?.map((id, i) => [id, i]))
  const ranked = found === undefined ? rows : rows.sort((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0))
  return ranked.slice(0, limit).map(experimentRow)
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
