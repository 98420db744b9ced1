// A log of research as a table of tab-separated columns: a name, a score, more columns, `status`, `description`. One row is one
// run. Everything that is wrong is reported at once, each with its line and column.
import { EvsysError, type Problem, suggest } from '../../kernel/index.ts'

const logStatuses = ['keep', 'discard', 'crash'] as const
export type LogStatus = (typeof logStatuses)[number]

export interface LogRow {
  readonly line: number
  /** First column: what the log calls the run. */
  readonly name: string
  readonly status: LogStatus
  readonly description: string
  /** Columns of numbers. Of a crash the score is missing, whatever number stands in its place. */
  readonly values: Readonly<Record<string, number>>
  /** The other columns. */
  readonly texts: Readonly<Record<string, string>>
}

export interface ResultsLog {
  /** Column of the score. */
  readonly metric: string
  /** Decimals that scores are written with. */
  readonly decimals: number
  readonly rows: readonly LogRow[]
}

interface ReadLogOptions {
  /** As errors call it. */
  readonly file: string
  /** Column of the score; absent: the first one of numbers after the name. */
  readonly metric?: string | undefined
}

/** More than this of one file help no one. */
const mostProblems = 20
const mostColumns = 1000
const mostLines = 100_000

/** Reads a log, or throws one error that carries every problem. */
export function readResultsLog(text: string, { file, metric: wanted }: ReadLogOptions): ResultsLog {
  const complain = createComplaints(file)
  if (countOf(text, '\n') > mostLines)
    throw complain.now(emptyFile, `the file has more than ${mostLines} lines`, 'give the log of one session.')
  const [head, ...lines] = linesOf(text)
  if (head === undefined) throw complain.now(emptyFile, 'the file is empty', 'give a log of runs.')
  const columns = readHead(head, complain)
  const metric = scoreColumn(columns, head, wanted, complain)
  if (lines.length === 0) {
    throw complain.now(head.cells[0] ?? wholeLine(head), 'no run follows', 'a log has one line per run below its head.')
  }
  const parsed = lines.flatMap((line) => readRow(line, columns, metric, complain) ?? [])
  complain.throwIfAny()
  const isNumeric = new Set(
    columns.filter((column) => parsed.every(({ cells }) => isNumberOrEmpty(cells[column] ?? ''))),
  )
  return {
    metric,
    decimals: parsed.reduce((most, { cells }) => Math.max(most, (cells[metric] ?? '').split('.')[1]?.length ?? 0), 0),
    rows: parsed.map(({ cells, line, status }) => logRow(cells, line, status, { columns, metric, isNumeric })),
  }
}

interface Cell {
  readonly line: number
  /** Offset in its line. */
  readonly start: number
  readonly text: string
  readonly lineText: string
}

interface Line {
  readonly line: number
  readonly text: string
  readonly cells: readonly Cell[]
}

const emptyFile: Cell = { line: 1, start: 0, text: '', lineText: '' }

function countOf(text: string, sign: string): number {
  let count = 0
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) count++
  return count
}

function linesOf(text: string): Line[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .flatMap((each, i) => (each.trim() === '' ? [] : [{ line: i + 1, text: each, cells: cellsOf(each, i + 1) }]))
}

function cellsOf(text: string, line: number): Cell[] {
  let start = 0
  return text.split('\t').map((cell) => {
    const at = start
    start += cell.length + 1
    return { line, start: at, text: cell.trim(), lineText: text }
  })
}

function wholeLine({ line, text }: Line): Cell {
  return { line, start: 0, text, lineText: text }
}

function readHead(head: Line, complain: Complaints): string[] {
  const columns = head.cells.map(({ text }) => text)
  if (columns.length > mostColumns)
    throw complain.now(wholeLine(head), `more than ${mostColumns} columns`, 'leave out those that no one reads.')
  if (columns.length < 3) {
    throw complain.now(
      wholeLine(head),
      'expected column names with tabs between them',
      'begin with a line such as `commit`, `val_bpb`, `status`, `description`.',
    )
  }
  for (const [i, cell] of head.cells.entries()) {
    if (cell.text === '') complain.about(cell, `column ${i + 1} has no name`, 'name it.')
    else if (columns.indexOf(cell.text) !== i)
      complain.about(cell, `two columns are called "${cell.text}"`, 'name them apart.')
  }
  if (!columns.includes('status')) {
    const fix = suggest('status', columns, { more: `one column says ${logStatuses.join(', ')}, and is called status.` })
    complain.about(wholeLine(head), 'no column is called "status"', fix)
  }
  complain.throwIfAny()
  return columns
}

function scoreColumn(columns: readonly string[], head: Line, wanted: string | undefined, complain: Complaints): string {
  const choices = columns.slice(1).filter((column) => column !== 'status' && column !== 'description')
  const found = wanted === undefined ? choices[0] : choices.find((column) => column === wanted)
  if (found !== undefined) return found
  const message = wanted === undefined ? 'no column holds a score' : `no column is called "${wanted}"`
  throw complain.now(wholeLine(head), message, suggest(wanted ?? '', choices))
}

interface Parsed {
  readonly line: number
  readonly status: LogStatus
  readonly cells: Readonly<Record<string, string>>
}

function readRow(line: Line, columns: readonly string[], metric: string, complain: Complaints): Parsed | undefined {
  if (line.cells.length !== columns.length) {
    const message = `${line.cells.length} columns, and the head has ${columns.length}`
    complain.about(wholeLine(line), message, 'put one tab between columns, and none inside a text.')
    return undefined
  }
  const at = (column: string) => line.cells[columns.indexOf(column)] ?? wholeLine(line)
  const [name = wholeLine(line)] = line.cells
  const status = logStatuses.find((each) => each === at('status').text)
  if (name.text === '') complain.about(name, 'the run has no name', 'give it one in the first column.')
  if (status === undefined) {
    complain.about(at('status'), `the status is "${at('status').text}"`, `write ${logStatuses.join(', ')}.`)
  } else if (status !== 'crash' && !isNumber(at(metric).text)) {
    const message = `${metric} is "${at(metric).text}", which is no number`
    complain.about(at(metric), message, 'write the score; a run without one has the status crash.')
  }
  const cells = Object.fromEntries(columns.map((column, i) => [column, line.cells[i]?.text ?? '']))
  return status === undefined ? undefined : { line: line.line, status, cells }
}

function logRow(
  cells: Parsed['cells'],
  line: number,
  status: LogStatus,
  { columns, metric, isNumeric }: { columns: readonly string[]; metric: string; isNumeric: ReadonlySet<string> },
): LogRow {
  const rest = columns.slice(1).filter((column) => column !== 'status' && column !== 'description')
  // A crash writes 0, which would be the best score of all.
  const known = rest.filter((column) => status !== 'crash' || column !== metric)
  const filled = known.filter((column) => (cells[column] ?? '') !== '')
  const isValue = (column: string) => column === metric || isNumeric.has(column)
  return {
    line,
    name: cells[columns[0] ?? ''] ?? '',
    status,
    description: cells.description ?? '',
    values: Object.fromEntries(filled.filter(isValue).map((column) => [column, Number(cells[column])])),
    texts: Object.fromEntries(
      filled.filter((column) => !isValue(column)).map((column) => [column, cells[column] ?? '']),
    ),
  }
}

function isNumber(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))
}

function isNumberOrEmpty(text: string): boolean {
  return text === '' || isNumber(text)
}

type Complaints = ReturnType<typeof createComplaints>

function createComplaints(file: string) {
  const problems: Problem[] = []
  const errorOf = () => {
    const rest = problems.length - mostProblems
    const shown = problems.slice(0, mostProblems)
    const last = shown.at(-1)
    if (rest > 0 && last !== undefined) {
      shown[shown.length - 1] = { ...last, message: `${last.message} (and ${rest} more lines are wrong)` }
    }
    return EvsysError.many(shown)
  }
  const about = ({ line, start, text, lineText }: Cell, message: string, fix: string) => {
    const where = { file, line, col: start + 1 }
    const excerpt = { text: lineText, line, col: start + 1, length: Math.max(1, text.length) }
    problems.push({ code: 'DATA_INVALID', message, where, fix, excerpt })
  }
  return {
    about,
    /** The error of everything so far and this. */
    now(cell: Cell, message: string, fix: string): EvsysError {
      about(cell, message, fix)
      return errorOf()
    },
    throwIfAny() {
      if (problems.length > 0) throw errorOf()
    },
  }
}
