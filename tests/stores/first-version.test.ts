// A record that the first version of the store wrote (fixtures/record-v1.db.gz): four trainings, a research session and an imported
// log. Its canonical form is pinned by the hashes that this version computed.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openStore, requireTraining, STORE_VERSION } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

const CANONICAL = {
  small: '7c83dfdd67cae79faaa33b695f192ebda00a735b273916d201046fa51e308b96',
  'table-search': 'faa76aad2bcbd08c8d52549198a737173a74af9dfc913a01ef5a280caf95e3b2',
  results: '585cc5a8e7d101b0fea7fc43b7d1f25254e2e2c38ad5172d937c2eb7b753398f',
}

function firstVersion(): string {
  const file = join(folder(), 'evsys.db')
  writeFileSync(file, gunzipSync(readFileSync(join(import.meta.dirname, '../fixtures/record-v1.db.gz'))))
  return file
}

describe('a record of the first version', () => {
  it('is migrated after a copy was made, and stays the same research (STO-11, STO-15)', async () => {
    await using store = await openStore(firstVersion())
    expect(store.migrated).toMatchObject({ from: 1, to: STORE_VERSION, backup: expect.stringContaining('.v1.') })
    for (const [name, hash] of Object.entries(CANONICAL)) {
      const { id } = await store.findExperiment(name)
      const canonical = JSON.stringify(await store.canonicalRecord(id))
      expect(createHash('sha256').update(canonical).digest('hex'), name).toBe(hash)
    }
  })

  it('says what each run is (STO-11)', async () => {
    await using store = await openStore(firstVersion())
    const of = async (name: string) => store.runs((await store.findExperiment(name)).id)
    const trained = await of('small')
    expect(trained.map((run) => requireTraining(run).config.algorithm.kind)).toEqual(['sft', 'sft', 'sft', 'sft'])
    const candidates = await of('table-search')
    expect(new Set(candidates.map(({ kind }) => kind))).toEqual(new Set(['candidate']))
    const byName = new Map([...candidates, ...(await of('results'))].map((run) => [run.name, run]))
    expect(byName.get('baseline-s0')).toMatchObject({ candidate: { task: 'table-search', title: 'baseline' } })
    expect(byName.get('a5-s764509295')).toMatchObject({ failure: { class: 'oom', reason: 'more memory than 4 GB' } })
    const early = 'ended early: its training curve fell too far behind'
    expect(byName.get('a4-s764509295')).toMatchObject({ failure: { reason: early } })
    expect(byName.get('b2')).toMatchObject({
      candidate: { title: 'b2', columns: {} },
      failure: { reason: 'the log says that it crashed' },
    })
    expect(() => requireTraining(candidates[0] ?? expect.fail('no run'))).toThrow('is no training but a candidate')
  })

  it('takes further candidates, and is written once (STO-11)', async () => {
    const file = firstVersion()
    const { id, plan } = await (async () => {
      await using store = await openStore(file)
      return await store.findExperiment('table-search')
    })()
    await using store = await openStore(file)
    expect(store.migrated).toEqual({ from: STORE_VERSION, to: STORE_VERSION })
    const stream = `experiment:${id}`
    const { nextEvent } = await store.cursor(stream)
    const events = await store.events({ stream, afterSeq: 0, limit: 1000, types: ['run.added'] })
    expect(events.every((event) => event.type === 'run.added' && event.run.kind === 'candidate')).toBe(true)
    const run = {
      kind: 'candidate' as const,
      name: 'a9-s0',
      arm: 'a9',
      seed: 0,
      candidate: { task: 'table-search', title: 'deeper' },
      config_hash: 'h',
    }
    const at = '2026-11-18T00:00:00.000Z'
    await store.append(stream, nextEvent - 1, [
      { type: 'run.added', seq: nextEvent, at, experiment_id: id, run_id: 'run_9', run },
    ])
    expect(await store.run('run_9')).toMatchObject({ kind: 'candidate', candidate: run.candidate, status: 'pending' })
    expect((await store.findExperiment(id)).plan.runs).toEqual([...plan.runs, run])
  })
})
