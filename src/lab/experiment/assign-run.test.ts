import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventsOf, recordSample } from '../../../tests/sample-plan.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { segmentFile } from '../../record/files/experiment-folder.ts'
import { type OpenStore, openStore } from '../../store/index.ts'
import { createIntake } from '../workers/segment-reader.ts'
import { EvalLedger } from './eval-ledger.ts'
import { assignRun } from './supervise-run.ts'

const folder = temporaryFolders()

async function oneRun(store: OpenStore, dir: string) {
  const { experimentId, runIds } = await recordSample(store)
  const experiment = await store.experiment(experimentId)
  const row = await store.run(runIds[0] ?? '')
  const lease = await store.leases.acquire('experiment', 'me', 60_000)
  if (experiment === undefined || row === undefined || lease === undefined) throw new Error('they were recorded')
  const options = { store, experiment, outputDir: dir, projectDir: dir, plugins: [], benchmarks: [] }
  const intake = (file: string, from: number) =>
    createIntake(row, file, from, {
      store,
      lease,
      onItem: () => {},
      recorded: new EvalLedger({ benchmarks: [] }).recorded,
    })
  return { row, options, intake, runDir: join(dir, row.name) }
}

function writeSegment(file: string, items: readonly object[], from = 1): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, items.map((item, i) => `${JSON.stringify({ n: from + i, item })}\n`).join(''))
}

describe('an attempt at a run', () => {
  it('never writes into the segment of one that died before it told of its start (LAB-34)', async () => {
    const dir = folder()
    await using store = await openStore(join(dir, 'evsys.db'))
    const { row, options, runDir } = await oneRun(store, dir)
    expect(await assignRun(row, options)).toMatchObject({ attempt: 1, segment_file: segmentFile(runDir, 1) })
    writeSegment(segmentFile(runDir, 1), [])
    writeFileSync(join(runDir, 'segments', 'notes.txt'), '')
    expect(await assignRun(row, options)).toMatchObject({ attempt: 2, segment_file: segmentFile(runDir, 2) })
  })

  it('continues the stream where the record stands (LAB-34)', async () => {
    const dir = folder()
    await using store = await openStore(join(dir, 'evsys.db'))
    const { row, options, intake, runDir } = await oneRun(store, dir)
    const file = segmentFile(runDir, 1)
    writeSegment(file, eventsOf(row.id, [{ type: 'run.started', config_hash: 'c', attempt: 1 }]))
    appendFileSync(file, readFileSync(file, 'utf8').slice(0, 20)) // torn
    const first = intake(file, 1)
    await first.drain()
    await first.close()
    const now = await store.run(row.id)
    expect(now).toMatchObject({ status: 'running', attempt: 1 })
    expect(await assignRun(now ?? row, options)).toMatchObject({ attempt: 2, next_item: 2, next_event: 2 })
  })

  it('takes in nothing of another run, nor what is no item (LAB-34)', async () => {
    const dir = folder()
    await using store = await openStore(join(dir, 'evsys.db'))
    const { row, intake, runDir } = await oneRun(store, dir)
    for (const items of [eventsOf('run_other', [{ type: 'notice', text: 'x' }]), [{ type: 'nonsense' }]]) {
      const file = segmentFile(runDir, 1)
      writeSegment(file, items)
      const reading = intake(file, 1)
      await expect(reading.drain()).rejects.toMatchObject({ code: 'DATA_INVALID' })
      await reading.close()
    }
    expect(await store.cursor(`run:${row.id}`)).toMatchObject({ nextItem: 1 })
  })
})
