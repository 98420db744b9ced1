import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import * as z from 'zod'
import { defineCallback, systemCode, writeFileAtomic } from '../kernel/index.ts'

export const csvMetrics = defineCallback({
  kind: 'csv_metrics',
  summary: 'Writes the metrics of each run as CSV, one row per step; columns that appear later are part of the header.',
  params: z.strictObject({
    out_path: z.string().min(1).describe('File name in the folder of each run, or an absolute path with {run} in it.'),
    delimiter: z
      .string()
      .length(1)
      .refine((text) => !/["\r\n]/.test(text), 'a quote or a line break cannot stand between columns')
      .default(',')
      .describe('Between columns.'),
  }),
  async open({ params: { out_path, delimiter } }) {
    let file = ''
    let header: readonly string[] = ['step']
    return {
      // A row is in the file when its step is over, so that a run which is killed has lost none. What was written beyond the
      // step that training resumes from is taken out.
      async onTrainStart({ run, outputDir, step: first }) {
        file = resolve(run?.dir ?? outputDir, out_path.replaceAll('{run}', run?.name ?? 'run'))
        await mkdir(dirname(file), { recursive: true })
        const kept = await readTable(file, delimiter)
        header = kept.header
        const rows = kept.rows.filter(([step]) => step !== undefined && step !== '' && Number(step) < first)
        await writeTable(file, { header, rows }, delimiter)
      },
      async onStepEnd({ step }, metrics) {
        const added = Object.keys(metrics).filter((key) => !header.includes(key))
        if (added.length > 0) {
          header = [...header, ...added]
          const { rows } = await readTable(file, delimiter)
          await writeTable(file, { header, rows }, delimiter)
        }
        const cells = header.slice(1).map((key) => String(metrics[key] ?? ''))
        await appendFile(file, csvLine([String(step), ...cells], delimiter))
      },
    }
  },
})

async function readTable(file: string, delimiter: string): Promise<CsvTable> {
  try {
    return parseCsv(await readFile(file, 'utf8'), delimiter)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return { header: ['step'], rows: [] }
    throw cause
  }
}

// Rows from before a column was known have nothing in it.
async function writeTable(file: string, { header, rows }: CsvTable, delimiter: string): Promise<void> {
  const whole = rows.map((row) => header.map((_, i) => row[i] ?? ''))
  await writeFileAtomic(file, [header, ...whole].map((cells) => csvLine(cells, delimiter)).join(''))
}

// CSV as RFC 4180 has it: cells that hold the delimiter, quotes or line breaks stand in quotes.
interface CsvTable {
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
