// A transform: rows in, rows out. It sees one row at a time and keeps no more than it must.
import { defineTransform, z } from 'evsys/plugin'

export const dedupeByIntent = defineTransform({
  kind: 'dedupe_by_intent',
  summary: 'Keeps the first few rows of each intent that ask the same question.',
  params: z.strictObject({
    query_key: z.string().default('query').describe('Field with the question.'),
    intent_key: z.string().default('intent').describe('Field with the intent.'),
    keep: z.int().min(1).default(1).describe('Rows to keep of each question and intent.'),
  }),
  async *run(rows, { params, signal }) {
    const seen = new Map<string, number>()
    for await (const row of rows) {
      signal.throwIfAborted()
      const key = JSON.stringify([row[params.intent_key], normalised(row[params.query_key])])
      const count = (seen.get(key) ?? 0) + 1
      seen.set(key, count)
      if (count <= params.keep) yield row
    }
  },
})

// Case, punctuation and spaces do not make another question.
function normalised(query: unknown): string {
  return String(query)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

export default [dedupeByIntent]
