import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventsOf, recordSample } from '../../../tests/sample-plan.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { runFolder } from '../../record/index.ts'
import { openStore, type RunRow, requireTraining } from '../../store/index.ts'
import { EvalLedger } from './eval-ledger.ts'
import { guardCheckpoints, requireOwnWeights } from './own-weights.ts'

const folder = temporaryFolders()

async function place() {
  const outputDir = folder()
  const store = await openStore(':memory:')
  const rows: RunRow[] = []
  for (let i = 0; i < 2; i++) {
    const { experimentId } = await recordSample(store)
    rows.push(...(await store.runs(experimentId)).slice(0, 1))
  }
  const [mine, theirs] = rows as [RunRow, RunRow] // two were made
  const lease = await store.leases.acquire('test', 'test', 60_000)
  if (lease === undefined) throw new Error('the lease is held')
  const save = (row: RunRow, ref: string, from = 1) => {
    const items = eventsOf(row.id, [{ type: 'checkpoint.saved', step: from, kind: 'sampler', ref, final: false }], from)
    return guardCheckpoints(row, { store, outputDir }).push({ stream: `run:${row.id}`, fromSeq: from, items }, lease)
  }
  const inRun = (row: RunRow, name: string) =>
    `mock://${join(runFolder(outputDir, row.name), 'checkpoints/sampler', name)}`
  return { store, outputDir, mine, theirs, save, inRun, lease }
}

describe('the weights of a run', () => {
  it('are reported by itself alone: those of others, and files elsewhere, are refused (ATK-430)', async () => {
    const { store, outputDir, mine, theirs, save, inRun, lease } = await place()
    await save(mine, inRun(mine, 'a.mock'))
    await save(theirs, 'tinker://model-1/sampler_weights/a')
    for (const ref of [
      'tinker://model-1/sampler_weights/a',
      'tinker://model-1/sampler_weights/another',
      'mock:///etc/passwd',
      inRun(mine, '../../../elsewhere/a.mock'),
      'mock:no path',
    ]) {
      await expect(save(mine, ref, 2), ref).rejects.toMatchObject({ code: 'DATA_INVALID' })
    }
    // What stands before such a claim is kept.
    const items = eventsOf(
      mine.id,
      [
        { type: 'step.finished', step: 1, metrics: {} },
        { type: 'checkpoint.saved', step: 1, kind: 'sampler', ref: 'mock:///etc/passwd', final: false },
      ],
      2,
    )
    const guarded = guardCheckpoints(mine, { store, outputDir })
    await expect(guarded.push({ stream: `run:${mine.id}`, fromSeq: 2, items }, lease)).rejects.toThrow(
      'does not lie in its folder',
    )
    expect((await store.cursor(`run:${mine.id}`)).nextItem).toBe(3)
    expect((await store.checkpoints(mine.id)).map(({ ref }) => ref)).toEqual([inRun(mine, 'a.mock')])
    await store[Symbol.asyncDispose]()
  })

  it('are what it may have evaluated: of another run they are refused, whatever that run is (ATK-430)', async () => {
    const { store, outputDir, mine, theirs, save } = await place()
    await save(theirs, 'tinker://model-2/sampler_weights/a')
    const ledger = new EvalLedger({ benchmarks: [] })
    const ask = (uri: string) =>
      requireOwnWeights(requireTraining(mine), { weights: { kind: 'sampler', uri } }, ledger, { store, outputDir })
    await expect(ask('tinker://model-2/sampler_weights/b')).rejects.toThrow('those of another run')
    await expect(ask('mock:///etc/passwd')).rejects.toThrow('do not lie in its folder')
    await ask('tinker://model-3/sampler_weights/a')
    await store[Symbol.asyncDispose]()
  })
})
