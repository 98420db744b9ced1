// A CSV file as a stream of rows: the first record names the fields, each further one is a row. Values are text unless `types` says
// otherwise. Faults of rows are gathered and told at once, each with its line.
import { createReadStream } from 'node:fs'
import type { Row } from '../contracts/index.ts'
import { EvsysError, type Problem } from '../kernel/index.ts'
import { type CsvFault, CsvReader, type CsvRecord } from './csv-records.ts'
import { fileStats, readError } from './read-error.ts'
import { RowProblems } from './row-problems.ts'

export const csvTypes = ['text', 'number', 'boolean', 'json'] as const
export type CsvType = (typeof csvTypes)[number]

/** Larger than any record of text, smaller than a file whose quote was never closed. */
export const longestRecordChars = 16 * 1024 * 1024

export interface ReadCsvOptions {
  /** Name of the file in errors. Default: the path. */
  readonly name?: string
  readonly signal: AbortSignal
  readonly delimiter?: string
  /** Names of the fields, for a file without a header. */
  readonly columns?: readonly string[]
  readonly types?: Readonly<Record<string, CsvType>>
  readonly maxRecordChars?: number
}

/** The rows of a CSV file with the lines on which they begin. Empty lines are skipped. */
export async function* readCsv(
  path: string,
  { name = path, signal, delimiter = ',', columns, types = {}, maxRecordChars = longestRecordChars }: ReadCsvOptions,
): AsyncGenerator<{ row: Row; line: number }, void, undefined> {
  const reader = new CsvReader({ delimiter, maxChars: maxRecordChars })
  const problems = new RowProblems()
  let header = columns === undefined ? undefined : headerOf({ fields: columns, line: 1 }, name, types)
  for await (const record of records(path, name, signal, reader)) {
    if (header === undefined) {
      header = headerOf(record, name, types)
      continue
    }
    const { line } = record
    const parsed = rowOf(record, header, types)
    if ('row' in parsed) {
      if (problems.none) yield { row: parsed.row, line }
    } else {
      problems.add(parsed.message, () => ({
        place: `${name}:${line}`,
        where: { file: name, line, col: 1 },
        fix: parsed.fix,
      }))
      if (problems.full) break
    }
  }
  const { fault } = reader
  if (fault !== undefined && problems.none) throw faultError(name, fault)
  problems.throwIfAny()
  if (header === undefined) {
    throw faultError(name, {
      message: 'the file is empty',
      line: 1,
      col: 1,
      fix: 'write a header and at least one row, or name the columns in params.columns.',
    })
  }
}

async function* records(
  path: string,
  name: string,
  signal: AbortSignal,
  reader: CsvReader,
): AsyncGenerator<CsvRecord, void, undefined> {
  await fileStats(path, name)
  const decoder = new TextDecoder('utf-8', { fatal: true }) // drops a byte order mark
  let line = 1
  const decode = (chunk?: Uint8Array): string => {
    try {
      const text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
      return text
    } catch {
      throw faultError(name, {
        message: 'not valid UTF-8, in this line or after',
        line,
        col: 1,
        fix: 'save the file as UTF-8.',
      })
    }
  }
  const pick = (found: readonly CsvRecord[]) =>
    found.filter(({ fields, isQuoted }) => isQuoted || fields.length > 1 || fields[0] !== '')
  const stream = createReadStream(path, { highWaterMark: 1024 * 1024, signal })
  try {
    for await (const chunk of stream) {
      for (const record of pick(reader.push(decode(chunk)))) {
        line = record.line
        yield record
      }
      if (reader.fault !== undefined) return
    }
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw EvsysError.is(cause) ? cause : readError(name, cause)
  }
  yield* pick([...reader.push(decode()), ...reader.end()])
}

function headerOf(
  { fields, line }: Pick<CsvRecord, 'fields' | 'line'>,
  name: string,
  types: Readonly<Record<string, CsvType>>,
): readonly string[] {
  const problems: Problem[] = []
  const seen = new Map<string, number>()
  const complain = (message: string, fix: string) =>
    problems.push({
      code: 'DATA_INVALID',
      message: `${name}:${line}: ${message}`,
      where: { file: name, line, col: 1 },
      fix,
    })
  for (const [index, field] of fields.entries()) {
    const first = seen.get(field)
    if (field.trim() === '') complain(`column ${index + 1} has no name`, 'name every column in the header.')
    else if (first !== undefined)
      complain(
        `columns ${first + 1} and ${index + 1} are both called "${field}"`,
        'give every column a name of its own.',
      )
    else seen.set(field, index)
  }
  for (const field of Object.keys(types)) {
    if (!seen.has(field))
      complain(
        `params.types names the column "${field}", which the header does not have (it has ${fields.join(', ')})`,
        'correct the name.',
      )
  }
  if (problems.length > 0) throw EvsysError.many(problems)
  return fields
}

function rowOf(
  { fields }: CsvRecord,
  header: readonly string[],
  types: Readonly<Record<string, CsvType>>,
): { row: Row } | { message: string; fix: string } {
  if (fields.length !== header.length) {
    return {
      message: `the row has ${fields.length} fields, and the header has ${header.length}`,
      fix: 'quote a field that holds a separator; write empty fields out.',
    }
  }
  const row: Row = {}
  for (const [index, column] of header.entries()) {
    const text = fields[index] ?? ''
    const type = Object.hasOwn(types, column) ? (types[column] ?? 'text') : 'text'
    const value = typedValue(text, type)
    if (value === undefined)
      return {
        message: `"${column}" is no ${type}: ${JSON.stringify(text.slice(0, 60))}`,
        fix: 'correct the value, or its type in params.types.',
      }
    Object.defineProperty(row, column, { value: value.value, enumerable: true, writable: true, configurable: true }) // also where it is called __proto__
  }
  return { row }
}

// An empty field of a type other than text is a missing value.
function typedValue(text: string, type: CsvType): { value: unknown } | undefined {
  if (type === 'text') return { value: text }
  if (text.trim() === '') return { value: null }
  if (type === 'boolean') {
    const word = text.trim().toLowerCase()
    return word === 'true' || word === 'false' ? { value: word === 'true' } : undefined
  }
  try {
    const value: unknown = JSON.parse(text)
    return type === 'json' || typeof value === 'number' ? { value } : undefined
  } catch {
    return undefined
  }
}

function faultError(name: string, { message, fix, line, col }: CsvFault): EvsysError {
  return new EvsysError('DATA_INVALID', `${name}:${line}: ${message}`, { where: { file: name, line, col }, fix })
}
