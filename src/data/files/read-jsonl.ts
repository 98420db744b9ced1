// JSON Lines as a stream: 1 MiB at a time, split on byte 10, one row parsed when it is asked for. Faults are gathered, so that
// a file with twelve bad lines is reported in one go; after the first one no more rows are yielded.
import { Buffer, isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import type { Row } from '../../contracts/index.ts'
import { EvsysError, type Excerpt, jsonFault } from '../../kernel/index.ts'
import { deepestRow, isRow, nestedDeeperThan, typeWords } from '../rows/raw-row.ts'
import { RowProblems } from '../rows/row-problems.ts'
import { failsToRead, fileStats } from './read-error.ts'

const chunkBytes = 1024 * 1024
const newline = 10
const carriageReturn = 13
const openBrace = 123
const emptyLine = Buffer.alloc(0)

/** Larger than any row of text and images, smaller than what parsing it would cost the machine. */
export const longestLineBytes = 64 * 1024 * 1024

export type ReadJsonlOptions = {
  /** Name of the file in errors. Default: the path. */
  name?: string | undefined
  signal: AbortSignal
  maxLineBytes?: number | undefined
  /** Sees the file as it is read. */
  onBytes?: ((bytes: Uint8Array) => void) | undefined
}

/** The rows of a JSON Lines file with their line numbers. Blank lines are skipped. */
export async function* readJsonl(
  path: string,
  { name = path, signal, maxLineBytes = longestLineBytes, onBytes }: ReadJsonlOptions,
): AsyncGenerator<{ row: Row; line: number }, void, undefined> {
  const problems = new RowProblems()
  for await (const { parts, firstLine, isValid } of lines(path, { name, signal, onBytes }, maxLineBytes)) {
    for (const [index, bytes] of parts.entries()) {
      const line = firstLine + index
      const parsed = bytes === undefined ? tooLong(maxLineBytes) : parseLine(bytes, isValid)
      if (parsed === undefined) continue
      if ('row' in parsed) {
        if (problems.none) yield { row: parsed.row, line }
        continue
      }
      const { message, col, fix, text } = parsed
      const where = { file: name, line, col }
      problems.add(message, () => ({ place: `${name}:${line}`, where, fix, excerpt: excerptOf(text, line, col) }))
      if (problems.full) return problems.throwIfAny()
    }
  }
  problems.throwIfAny()
}

/** The lines of one piece of a file. One that is too long has no bytes: they are not kept. */
type Lines = { parts: (Buffer | undefined)[]; firstLine: number; isValid: boolean }
type Fault = { message: string; col: number; fix: string; text?: string | undefined }

// A piece at a time, and not a line: waiting for every line would take longer than parsing it.
async function* lines(
  path: string,
  { name, signal, onBytes }: ReadJsonlOptions & { name: string },
  maxBytes: number,
): AsyncGenerator<Lines> {
  await fileStats(path, name)
  await using file = await open(path, 'r').catch(failsToRead(name))
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let carried: Buffer[] = []
  let carriedBytes = 0
  let firstLine = 1
  let isFirst = true
  const take = (part: Buffer): Buffer | undefined => {
    const isLong = carriedBytes + part.length > maxBytes
    const bytes = carriedBytes === 0 ? part : Buffer.concat([...carried, part])
    carried = []
    carriedBytes = 0
    return isLong ? undefined : bytes
  }
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead: size } = await file.read(buffer, 0, buffer.length, null).catch(failsToRead(name))
    if (size === 0) break
    onBytes?.(buffer.subarray(0, size))
    let start = isFirst ? afterMark(buffer.subarray(0, size), name) : 0
    isFirst = false
    const parts: (Buffer | undefined)[] = []
    // Checked at once; a line that was begun in the piece before is checked by itself.
    const isValid = carriedBytes === 0 && isUtf8(buffer.subarray(start, buffer.lastIndexOf(newline, size - 1) + 1))
    for (let end = buffer.indexOf(newline, start); end !== -1 && end < size; end = buffer.indexOf(newline, start)) {
      parts.push(end === start && carriedBytes === 0 ? emptyLine : take(buffer.subarray(start, end)))
      start = end + 1
    }
    if (parts.length > 0) yield { parts, firstLine, isValid }
    firstLine += parts.length
    const rest = buffer.subarray(start, size)
    carriedBytes += rest.length
    if (carriedBytes > maxBytes) carried = []
    else if (rest.length > 0) carried.push(Buffer.from(rest)) // a copy: the buffer is filled again
  }
  if (carriedBytes > 0) yield { parts: [take(Buffer.alloc(0))], firstLine, isValid: false }
}

// A byte order mark is allowed. Other encodings and compressed files are recognised, since "invalid UTF-8 in line 1" is of no help.
function afterMark(start: Buffer, name: string): number {
  const [a, b, c] = start
  if (a === 0xef && b === 0xbb && c === 0xbf) return 3
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    throw foreignFile(name, 'UTF-16 text', 'save it as UTF-8.')
  }
  if (a === 0x1f && b === 0x8b) throw foreignFile(name, 'compressed with gzip', 'unpack it first: `gunzip FILE`.')
  if (a === 0x28 && b === 0xb5 && c === 0x2f)
    throw foreignFile(name, 'compressed with zstd', 'unpack it first: `unzstd FILE`.')
  return 0
}

function foreignFile(name: string, what: string, fix: string): EvsysError {
  return new EvsysError('DATA_INVALID', `${name} is ${what}`, { where: { file: name, line: 1, col: 1 }, fix })
}

function tooLong(maxBytes: number): Fault {
  const fix = 'split the row, or raise max_line_bytes.'
  return { message: `the line is longer than ${maxBytes} bytes`, col: 1, fix }
}

function parseLine(line: Buffer, isValid: boolean): { row: Row } | Fault | undefined {
  if (line.length === 0) return undefined
  const bytes = line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line
  if (!isValid && !isUtf8(bytes)) return invalidUtf8(bytes)
  const text = bytes.toString('utf8')
  if (bytes[0] !== openBrace && text.trim() === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const { at, reason } = jsonFault(text) ?? { at: 0, reason: 'it cannot be parsed' }
    return { message: `not valid JSON: ${reason}`, col: at + 1, fix: 'write one JSON object per line.', text }
  }
  if (!isRow(value)) {
    const fix = 'write one JSON object per line: {"text": "..."}.'
    return { message: `expected a mapping, got ${typeWords(value)}`, col: text.search(/\S/) + 1, fix, text }
  }
  // A level takes two characters at least.
  if (text.length > 2 * deepestRow && nestedDeeperThan(value, deepestRow)) {
    return { message: `nested deeper than ${deepestRow} levels`, col: text.search(/\S/) + 1, fix: 'flatten the row.' }
  }
  return { row: value }
}

function invalidUtf8(bytes: Uint8Array): Fault {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  // The first replacement character that does not stand in the bytes themselves.
  let at = text.indexOf('\uFFFD')
  for (; at !== -1; at = text.indexOf('\uFFFD', at + 1)) {
    const offset = Buffer.byteLength(text.slice(0, at))
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) break
  }
  return { message: 'not valid UTF-8', col: at + 1, fix: 'save the file as UTF-8.' }
}

// A row is often a whole page of text: only what fits on a screen is shown.
function excerptOf(text: string | undefined, line: number, col: number): Excerpt | undefined {
  return text === undefined || text.length > 160 ? undefined : { text, line, col, length: 1 }
}
