// A CSV file as a stream of rows: the first record names the fields, each further one is a row. Values are text unless `types` says
// otherwise. Faults of rows are gathered and reported at once, each with its line.
import { createReadStream } from 'node:fs'
import type { Row } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../../kernel/index.ts'
import { RowProblems } from '../rows/row-problems.ts'
import { fileStats, readError } from './read-error.ts'

export const csvTypes = ['text', 'number', 'boolean', 'json'] as const
type CsvType = (typeof csvTypes)[number]

/** Larger than any record of text, smaller than a file whose quote was never closed. */
export const longestRecordChars = 16 * 1024 * 1024

/** More than any table of texts has; a file without line breaks has millions. */
const mostColumns = 10_000
/** After so many pieces a field becomes one text again: V8 keeps what is added to a text as a tree of its pieces. */
const mostPieces = 2 ** 18

export interface ReadCsvOptions {
  /** Name of the file in errors. Default: the path. */
  readonly name?: string | undefined
  readonly signal: AbortSignal
  readonly delimiter?: string | undefined
  /** Names of the fields, for a file without a header. */
  readonly columns?: readonly string[] | undefined
  readonly types?: Readonly<Record<string, CsvType>> | undefined
  readonly maxRecordChars?: number | undefined
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
      const where = { file: name, line, col: 1 }
      problems.add(parsed.message, () => ({ place: `${name}:${line}`, where, fix: parsed.fix }))
      if (problems.full) break
    }
  }
  const { fault } = reader
  if (fault !== undefined && problems.none) throw faultError(name, fault)
  problems.throwIfAny()
  if (header === undefined) {
    const fix = 'write a header and at least one row, or name the columns in params.columns.'
    throw faultError(name, { message: 'the file is empty', line: 1, col: 1, fix })
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
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      const message = 'not valid UTF-8, in this line or after'
      throw faultError(name, { message, line, col: 1, fix: 'save the file as UTF-8.' })
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
  const where = { file: name, line, col: 1 }
  const complain = (message: string, fix: string) =>
    problems.push({ code: 'DATA_INVALID', message: `${name}:${line}: ${message}`, where, fix })
  for (const [index, field] of fields.entries()) {
    const first = seen.get(field)
    const both = `columns ${(first ?? 0) + 1} and ${index + 1}`
    if (field.trim() === '') complain(`column ${index + 1} has no name`, 'name every column in the header.')
    else if (first !== undefined) complain(`${both} are both called "${field}"`, 'give every column its own name.')
    else seen.set(field, index)
  }
  for (const field of Object.keys(types).filter((each) => !seen.has(each))) {
    const has = `which the header does not have (it has ${fields.join(', ')})`
    complain(`params.types names the column "${field}", ${has}`, 'correct the name.')
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
    const message = `the row has ${fields.length} fields, and the header has ${header.length}`
    return { message, fix: 'quote a field that holds a separator; write empty fields out.' }
  }
  const row: Row = {}
  for (const [index, column] of header.entries()) {
    const text = fields[index] ?? ''
    const type = Object.hasOwn(types, column) ? (types[column] ?? 'text') : 'text'
    const value = typedValue(text, type)
    if (value === undefined) {
      const message = `"${column}" is no ${type}: ${JSON.stringify(text.slice(0, 60))}`
      return { message, fix: 'correct the value, or its type in params.types.' }
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

// Text to records by RFC 4180: fields between separators, quoted ones may hold separators, quotes (doubled) and line breaks. It takes
// text in pieces of any size and keeps no more than the record it is in. It knows no files and no rows.
interface CsvRecord {
  readonly fields: readonly string[]
  /** 1-based line on which the record begins. */
  readonly line: number
  /** Whether a field was quoted: an empty line is none, `""` is a record. */
  readonly isQuoted: boolean
}

interface CsvFault {
  readonly message: string
  readonly fix: string
  readonly line: number
  readonly col: number
}

/** Splits text into records. After a fault it gives nothing more: where the next record begins is unknown. */
export class CsvReader {
  readonly #delimiter: string
  readonly #maxChars: number
  readonly #plainStop: RegExp
  readonly #quotedStop = /["\r\n]/g
  #fields: string[] = []
  #field = ''
  #pieces = 0
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  #line = 1
  #col = 1
  #recordLine = 1
  #quoteAt = { line: 1, col: 1 }
  #isQuoted = false
  #chars = 0
  #afterReturn = false
  #fault: CsvFault | undefined

  constructor({ delimiter, maxChars }: { delimiter: string; maxChars: number }) {
    this.#delimiter = delimiter
    this.#maxChars = maxChars
    this.#plainStop = new RegExp(`[${delimiter.replace(/[|\\]/g, '\\$&')}"\r\n]`, 'g')
  }

  get fault(): CsvFault | undefined {
    return this.#fault
  }

  /** The records that the next piece of text completes. */
  push(text: string): CsvRecord[] {
    const records: CsvRecord[] = []
    for (let at = 0; at < text.length && this.#fault === undefined; at++) {
      if (this.#state === 'plain' || this.#state === 'quoted') at = this.#takeRun(text, at)
      const char = text[at]
      if (char !== undefined) this.#take(char, records)
    }
    return records
  }

  /** The last record, where the text does not end with a line break. */
  end(): CsvRecord[] {
    if (this.#fault !== undefined) return []
    if (this.#state === 'quoted') {
      const fix = 'close it; a quote inside a quoted field is written twice: "".'
      this.#fault = { message: 'a quote is opened here and never closed', fix, ...this.#quoteAt }
      return []
    }
    const isEmpty = this.#state === 'start' && this.#fields.length === 0
    return isEmpty ? [] : [this.#finish()]
  }

  // Characters without a meaning in the format, all at once: most of a file is made of them.
  #takeRun(text: string, from: number): number {
    const stop = this.#state === 'quoted' ? this.#quotedStop : this.#plainStop
    stop.lastIndex = from
    const end = stop.test(text) ? stop.lastIndex - 1 : text.length
    if (end === from) return from
    this.#append(text.slice(from, end))
    this.#col += end - from
    this.#chars += end - from
    this.#afterReturn = false
    if (this.#chars > this.#maxChars) this.#tooLong()
    return end
  }

  #take(char: string, records: CsvRecord[]): void {
    const isBreak = char === '\n' || char === '\r'
    if (char === '\n' && this.#afterReturn) {
      this.#afterReturn = false // the second half of a line break that was taken already
      if (this.#state === 'quoted') this.#append(char)
      return
    }
    this.#afterReturn = char === '\r'
    if (++this.#chars > this.#maxChars) this.#tooLong()
    else if (this.#state === 'quoted') this.#takeQuoted(char)
    else if (isBreak) records.push(this.#finish())
    else if (char === this.#delimiter) this.#endField()
    else if (char === '"') this.#takeQuote()
    else if (this.#state === 'closed') this.#wrong('there is text after the closing quote', 'put a separator after it.')
    else {
      this.#append(char)
      this.#state = 'plain'
    }
    if (isBreak) {
      this.#line++
      this.#col = 1
      if (this.#state === 'start' && this.#fields.length === 0) this.#recordLine = this.#line
    } else this.#col++
  }

  #takeQuoted(char: string): void {
    if (char === '"') this.#state = 'closed'
    else this.#append(char)
  }

  #takeQuote(): void {
    if (this.#state === 'closed') {
      this.#append('"') // the second of two stands for one
      this.#state = 'quoted'
    } else if (this.#state === 'start') {
      this.#quoteAt = { line: this.#line, col: this.#col }
      this.#state = 'quoted'
      this.#isQuoted = true
    } else {
      const fix = 'quote the whole field, and write its quotes twice.'
      this.#wrong('there is a quote inside a field that is not quoted', fix)
    }
  }

  #append(piece: string): void {
    this.#field += piece
    if (++this.#pieces % mostPieces === 0) this.#field.charCodeAt(0) // reading it makes it one
  }

  #endField(): void {
    if (this.#fields.push(this.#field) > mostColumns) {
      const fix = 'look for missing line breaks; a table has fewer columns.'
      this.#fault ??= { message: `the record has more than ${mostColumns} fields`, fix, line: this.#recordLine, col: 1 }
    }
    this.#field = ''
    this.#state = 'start'
  }

  #finish(): CsvRecord {
    this.#endField()
    const record = { fields: this.#fields, line: this.#recordLine, isQuoted: this.#isQuoted }
    this.#fields = []
    this.#isQuoted = false
    this.#chars = 0
    return record
  }

  #tooLong(): void {
    const fix = 'look for a quote that is not closed, or raise max_record_chars.'
    const message = `the record is longer than ${this.#maxChars} characters`
    this.#fault ??= { message, fix, line: this.#recordLine, col: 1 }
  }

  #wrong(message: string, fix: string): void {
    this.#fault ??= { message, fix, line: this.#line, col: this.#col }
  }
}
