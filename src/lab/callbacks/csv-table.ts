// CSV as RFC 4180 has it: cells that hold the delimiter, quotes or line breaks stand in quotes.

export interface CsvTable {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export function csvLine(cells: readonly string[], delimiter: string): string {
  const quoted = (cell: string) =>
    /["\n\r]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell
  return `${cells.map(quoted).join(delimiter)}\n`
}

/** What was written line by line. A last line that was cut off goes. Without a header there is only the step. */
export function parseCsv(text: string, delimiter: string): CsvTable {
  const records: string[][] = []
  let record: string[] = []
  let cell = ''
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? ''
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[i + 1] === '"') {
        cell += '"'
        i += 1
      } else isQuoted = false
    } else if (char === '"') isQuoted = true
    else if (char === delimiter) {
      record.push(cell)
      cell = ''
    } else if (char === '\n') {
      records.push([...record, cell])
      record = []
      cell = ''
    } else cell += char
  }
  const [header = ['step'], ...rows] = records
  return { header, rows }
}
