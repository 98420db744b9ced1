import { join, resolve } from 'node:path'
import * as z from 'zod'
import type { Metrics } from '../../contracts/index.ts'
import { defineCallback, writeFileAtomic } from '../../kernel/index.ts'

/** Metrics of every step as a table that spreadsheets open. */
export const csvMetrics = defineCallback({
  kind: 'csv_metrics',
  summary: 'Writes the metrics of each run as CSV, one row per step; columns that appear later are part of the header.',
  params: z.strictObject({
    out_path: z.string().min(1).describe('File name in the folder of each run, or an absolute path with {run} in it.'),
    delimiter: z.string().length(1).default(',').describe('Between columns.'),
  }),
  async open({ params }) {
    const rows = new Map<number, Metrics>()
    let file: string | undefined
    return {
      onTrainStart(scope) {
        const name = params.out_path.replaceAll('{run}', scope.run?.name ?? 'run')
        file = resolve(scope.run?.dir ?? scope.outputDir, name)
      },
      onStepEnd({ step }, metrics) {
        rows.set(step, metrics)
      },
      // Written at the end: only then is the header known. A run that is resumed begins its table at the resumed step.
      async [Symbol.asyncDispose]() {
        if (file !== undefined && rows.size > 0) await writeFileAtomic(join(file), table(rows, params.delimiter))
      },
    }
  },
})

function table(rows: ReadonlyMap<number, Metrics>, delimiter: string): string {
  const keys = [...new Set([...rows.values()].flatMap((metrics) => Object.keys(metrics)))]
  const line = (cells: readonly (string | number | undefined)[]) =>
    cells.map((cell) => quoted(cell ?? '', delimiter)).join(delimiter)
  const body = [...rows]
    .sort(([a], [b]) => a - b)
    .map(([step, metrics]) => line([step, ...keys.map((key) => metrics[key])]))
  return `${[line(['step', ...keys]), ...body].join('\n')}\n`
}

function quoted(cell: string | number, delimiter: string): string {
  const text = String(cell)
  return /["\n\r]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text
}
