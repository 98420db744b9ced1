import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import * as z from 'zod'
import { defineCallback, systemCode, writeFileAtomic } from '../../kernel/index.ts'
import { type CsvTable, csvLine, parseCsv } from './csv-table.ts'

/** Metrics of every step as a table that spreadsheets open. */
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
      // step that training goes on from is taken out.
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
