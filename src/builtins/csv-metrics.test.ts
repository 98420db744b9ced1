import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../tests/plugin-context.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { watchedRun, watchSteps } from '../../tests/watched-run.ts'
import { csvLine, csvMetrics, parseCsv } from './csv-metrics.ts'

const folder = temporaryFolders()
const open = () => csvMetrics.open(pluginContext(csvMetrics, { out_path: 'metrics.csv' }))

describe('csv_metrics', () => {
  it('has a row of every step at once, and columns that appear later in its header (LAB-43)', async () => {
    const run = watchedRun(folder())
    const hooks = await open()
    await hooks.onTrainStart?.(run.at(0))
    await watchSteps(hooks, run, 0, 2)
    await hooks.onStepEnd?.(run.at(2), { loss: 0.25, 'grad,norm': 3 })
    expect(readFileSync(join(run.dir, 'metrics.csv'), 'utf8')).toBe(
      'step,loss,lr,"grad,norm"\n0,1,0.1,\n1,0.5,0.1,\n2,0.25,,3\n',
    )
  })

  it('goes on after a resume at a step, without a loss or a repeat, also after a torn line (LAB-43)', async () => {
    const [whole, resumed] = [watchedRun(folder()), watchedRun(folder())]
    const once = await open()
    await once.onTrainStart?.(whole.at(0))
    await watchSteps(once, whole, 0, 8)
    const first = await open()
    await first.onTrainStart?.(resumed.at(0))
    await watchSteps(first, resumed, 0, 6) // killed here, two steps after the checkpoint
    appendFileSync(join(resumed.dir, 'metrics.csv'), '6,0.14')
    const second = await open()
    await second.onTrainStart?.(resumed.at(4))
    await watchSteps(second, resumed, 4, 8)
    const text = (run: { dir: string }) => readFileSync(join(run.dir, 'metrics.csv'), 'utf8')
    expect(text(resumed)).toBe(text(whole))
  })

  it('writes where it is told to, one file per run (LAB-43)', async () => {
    const [dir, run] = [folder(), watchedRun(folder())]
    const params = { out_path: join(dir, '{run}.csv'), delimiter: ';' }
    const hooks = await csvMetrics.open(pluginContext(csvMetrics, params))
    await hooks.onTrainStart?.(run.at(0))
    await watchSteps(hooks, run, 0, 1)
    expect(readFileSync(join(dir, `${run.scope.run?.name}.csv`), 'utf8')).toBe('step;loss;lr\n0;1;0.1\n')
  })
})

describe('a table', () => {
  it('comes back as it was written, whatever its cells hold (LAB-43)', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', '1') })
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1 })
    fc.assert(
      fc.property(table, fc.constantFrom(',', ';', '\t'), (records, delimiter) => {
        const text = records.map((cells) => csvLine(cells, delimiter)).join('')
        const { header, rows } = parseCsv(text, delimiter)
        expect([header, ...rows]).toEqual(records)
      }),
    )
  })

  it('loses a last line that was cut off, and no other (LAB-43)', () => {
    expect(parseCsv('step,loss\n0,1\n1,0.', ',')).toEqual({ header: ['step', 'loss'], rows: [['0', '1']] })
    expect(parseCsv('', ',')).toEqual({ header: ['step'], rows: [] })
  })
})
