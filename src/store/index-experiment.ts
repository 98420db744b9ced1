// Keeps the words that an experiment is found by current.
import type { Queryable } from './database.ts'
import { Tags, Words } from './experiment-row.ts'
import { parseStored } from './parse-stored.ts'
import { searchText } from './search-words.ts'

/** Collects the words of an experiment again, after its texts changed. */
export async function indexExperiment(query: Queryable, experimentId: string): Promise<void> {
  const row = await query
    .selectFrom('experiment')
    .select(['hypothesis', 'tags', 'conclusion', 'words'])
    .where('id', '=', experimentId)
    .executeTakeFirst()
  if (row === undefined) return
  const words = parseStored(Words, row.words, `words of ${experimentId}`)
  const tags = parseStored(Tags, row.tags, `tags of ${experimentId}`)
  const search_text = searchText(row.hypothesis, row.conclusion, ...tags, ...words.map(({ text }) => text))
  await query.updateTable('experiment').set({ search_text }).where('id', '=', experimentId).execute()
}
