// A JSON file that holds one list of objects, read as a whole. Faults are reported with line and column, all of them at once.
import { type Buffer, isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import type { Location, Row } from '../../contracts/index.ts'
import { EvsysError, jsonFault, placeOf } from '../../kernel/index.ts'
import { deepestRow, isRow, nestedDeeperThan, typeWords } from '../rows/raw-row.ts'
import { RowProblems } from '../rows/row-problems.ts'
import { fileStats, readError } from './read-error.ts'

// A whole file becomes one string, and V8 has none longer than about 512 MiB.
const largestBytes = 256 * 1024 * 1024

/** The elements of the list with their places: `data/train.json[3]`. */
export async function* readJson(
  path: string,
  { name = path, signal }: { name?: string | undefined; signal: AbortSignal },
): AsyncGenerator<{ row: Row; place: string }, void, undefined> {
  const text = await readText(path, name, signal)
  const list = parseList(text, name)
  const problems = new RowProblems()
  const elementStart = startsOf(text)
  for (const [index, row] of list.entries()) {
    signal.throwIfAborted()
    const fault = isRow(row) ? depthFault(row) : `expected a mapping, got ${typeWords(row)}`
    if (fault !== undefined) {
      problems.add(fault, () => ({
        place: `${name}[${index}]`,
        where: place(text, elementStart(index), name),
        fix: 'make every element of the list an object.',
      }))
      if (problems.full) break
    } else if (isRow(row) && problems.none) {
      yield { row, place: `${name}[${index}]` }
    }
  }
  problems.throwIfAny()
}

async function readText(path: string, name: string, signal: AbortSignal): Promise<string> {
  const { size } = await fileStats(path, name)
  if (size > largestBytes) {
    throw new EvsysError('DATA_READ', `${name} is larger than ${largestBytes} bytes, too much to read at once`, {
      fix: 'write it as JSON Lines, one object per line, and set `source_kind: jsonl`.',
    })
  }
  let bytes: Buffer
  try {
    bytes = await readFile(path, { signal })
  } catch (cause) {
    if (signal.aborted) throw cause
    throw readError(name, cause)
  }
  if (!isUtf8(bytes)) throw invalid(name, 'not valid UTF-8', { file: name, line: 1, col: 1 }, 'save the file as UTF-8.')
  return new TextDecoder().decode(bytes) // drops a byte order mark
}

function parseList(text: string, name: string): unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const { at, reason } = jsonFault(text) ?? { at: 0, reason: 'it cannot be parsed' }
    throw invalid(name, `not valid JSON: ${reason}`, place(text, at, name), 'correct the file at the place shown.')
  }
  if (Array.isArray(value)) return value
  const fix = 'write a list of objects: [{...}, {...}]. For one object per line set `source_kind: jsonl`.'
  const where = place(text, Math.max(0, text.search(/\S/)), name)
  throw invalid(name, `expected a list of objects, got ${typeWords(value)}`, where, fix)
}

function depthFault(row: object): string | undefined {
  return nestedDeeperThan(row, deepestRow) ? `nested deeper than ${deepestRow} levels` : undefined
}

// Where an element begins, found by one scan of the text when it is first asked for.
function startsOf(text: string): (index: number) => number {
  let starts: number[] | undefined
  return (index) => {
    if (starts === undefined) {
      const found: number[] = []
      jsonFault(text, (at) => found.push(at))
      starts = found
    }
    return starts[index] ?? 0
  }
}

function place(text: string, at: number, file: string): Location {
  return { file, ...placeOf(text, at) }
}

function invalid(name: string, message: string, where: Location, fix: string): EvsysError {
  return new EvsysError('DATA_INVALID', `${name}: ${message}`, { where, fix })
}
