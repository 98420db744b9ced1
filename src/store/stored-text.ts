// Text that both databases give back as it was. PostgreSQL refuses NUL, SQLite drivers cut text at it, and both replace half a
// surrogate pair. Such units are written as U+FFFF, which no text has, and four hexadecimal digits; all other text is itself.

const MARK = '\uffff'
// With the flag u, `Cs` is a surrogate without its other half.
const UNSTORABLE = /[\0\uffff\p{Cs}]/u
const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu')

/** Text as a database can hold it. */
export function toStored(text: string): string {
  if (!UNSTORABLE.test(text)) return text
  return text.replace(EACH_UNSTORABLE, (unit) => `${MARK}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The text that was stored. */
export function fromStored(text: string): string {
  if (!text.includes(MARK)) return text
  return text.replace(/\uffff([0-9a-f]{4})/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
}

/** Rows of a query with their text as it was; changes them in place. */
export function rowsFromStored<R>(rows: R[]): R[] {
  for (const row of rows) {
    if (typeof row !== 'object' || row === null) continue
    for (const [column, value] of Object.entries(row)) {
      if (typeof value === 'string' && value.includes(MARK)) Reflect.set(row, column, fromStored(value))
    }
  }
  return rows
}
