import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { toStored } from './stored-text.ts'

/** Whether a column begins with a text, taken literally: ids hold underscores, which LIKE takes for any character. */
export function hasPrefix(column: string, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`substr(${sql.ref(column)}, 1, ${sql.lit([...toStored(text)].length)}) = ${text}`
}
