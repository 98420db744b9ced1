// Experiments by id, by what people call them, by text, newest first.

import * as z from 'zod'
import {
  type ExperimentQuery,
  type ExperimentRow,
  RecordedPlan,
  ResolvedObjective,
  RunStatus,
  Verdict,
} from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database, ExperimentTable, Queryable } from './database/database.ts'
import { checkStored, hasPrefix, parseJson, parseStored, present } from './database/stored-values.ts'

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

/** No one reads further in a list of what fits best. */
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
    only === undefined ? 'STORE_MISSING' : 'STORE_AMBIGUOUS',
    `the record has ${only === undefined ? 'no' : 'more than one'} experiment "${reference}"`,
    { fix: '`evsys history` lists them; an id, a name, or the beginning of one id will do.' },
  )
}

// A row of the table `experiment` as the rest of evsys sees it.
export const Words = z.array(z.object({ at: z.string(), author: z.string(), text: z.string() }))
const Tags = z.array(z.string())

function experimentRow(row: Omit<ExperimentTable, 'ix'>): ExperimentRow {
  const of = (column: string) => `${column} of experiment ${row.id}`
  let plan: RecordedPlan | undefined
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    status: checkStored(RunStatus, row.status, of('status')),
    configHash: row.config_hash,
    get plan() {
      plan ??= parseStored(RecordedPlan, row.plan, of('plan'))
      return plan
    },
    tags: parseStored(Tags, row.tags, of('tags')),
    words: parseStored(Words, row.words, of('words')),
    provenance: parseJson(row.provenance, of('provenance')),
    ...present({
      finishedAt: row.finished_at,
      hypothesis: row.hypothesis,
      objective: row.objective === null ? null : parseStored(ResolvedObjective, row.objective, of('objective')),
      parentId: row.parent_id,
      verdict: row.verdict === null ? null : checkStored(Verdict, row.verdict, of('verdict')),
      conclusion: row.conclusion,
      evidence: row.evidence === null ? null : parseJson(row.evidence, of('evidence')),
      bestArm: row.best_arm,
      costUsd: row.cost_usd,
      wallS: row.wall_s,
    }),
  }
}

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

// The words of a text, as they are searched. Accents, case and whatever stands between words are dropped, both in what is
// stored and in what is asked: no text is a syntax error of a query language, and both databases find the same.
/** Longer words are searched by their beginning. */
const LONGEST_WORD = 64
/** PostgreSQL indexes a megabyte of words at most. */
const LONGEST_TEXT = 100_000
const MOST_ASKED = 16

// Scripts that put no spaces between words: every character is one.
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}])+/gu

/** Words to look for; at most 16. */
export function searchWords(text: string): string[] {
  return [...new Set(wordsOf(text))].slice(0, MOST_ASKED)
}

/** The words of texts as one text, one space between them. */
export function searchText(...texts: readonly (string | null | undefined)[]): string {
  return texts
    .flatMap((text) => wordsOf(text ?? ''))
    .join(' ')
    .slice(0, LONGEST_TEXT)
}

function wordsOf(text: string): string[] {
  const plain = text
    .slice(0, 1_000_000)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
  return (plain.match(WORDS) ?? []).map((word) => [...word].slice(0, LONGEST_WORD).join(''))
}
