import { describe, expect, it } from 'vitest'
import { eventsOf, recordSample, samplePlan, TIME } from '../sample-plan.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describeExperiments(under: StoreUnderTest): void {
  describe('experiments', () => {
    it('are recorded whole, and again without effect (STO-2)', async () => {
      const store = await openForTest(under.address())
      const plan = samplePlan({ name: 'focal', hypothesis: 'Focal loss helps.', tags: ['loss'], seeds: [1, 2, 3] })
      const created = {
        experimentId: 'exp_1',
        at: TIME,
        plan,
        runIds: ['run_1', 'run_2', 'run_3'],
        provenance: { node: '20' },
      }
      await store.createExperiment(created)
      const before = [await store.experiment('exp_1'), await store.runs('exp_1'), (await store.usage()).rows]
      await store.createExperiment({ ...created, at: '2027-01-01T00:00:00.000Z' })
      expect([await store.experiment('exp_1'), await store.runs('exp_1'), (await store.usage()).rows]).toEqual(before)
      expect(await store.experiment('exp_1')).toEqual({
        id: 'exp_1',
        name: 'focal',
        createdAt: TIME,
        status: 'running',
        hypothesis: 'Focal loss helps.',
        configHash: 'c',
        plan,
        tags: ['loss'],
        words: [],
        provenance: { node: '20' },
      })
      const runs = await store.runs('exp_1')
      expect(runs.map(({ id, name, seed, status, attempt }) => [id, name, seed, status, attempt])).toEqual([
        ['run_1', 'a-1', 1, 'pending', 0],
        ['run_2', 'a-2', 2, 'pending', 0],
        ['run_3', 'a-3', 3, 'pending', 0],
      ])
      expect(runs[1]).toEqual(await store.run('run_2'))
      expect(await store.events({ stream: 'experiment:exp_1', afterSeq: 0, limit: 9 })).toEqual([
        expect.objectContaining({ type: 'experiment.started', seq: 1, n_runs: 3, hypothesis: 'Focal loss helps.' }),
      ])
    })

    it('take runs and arms that are decided later, and again without effect (RES-603)', async () => {
      const store = await openForTest(under.address())
      const plan = samplePlan({ seeds: [1] })
      await store.createExperiment({ experimentId: 'exp_1', at: TIME, plan, runIds: ['run_1'], provenance: {} })
      const [first] = plan.runs
      if (first === undefined) throw new Error('the sample has a run')
      const added = (seq: number, runId: string, arm: string, seed: number) => ({
        type: 'run.added' as const,
        seq,
        at: TIME,
        experiment_id: 'exp_1',
        run_id: runId,
        run: { ...first, name: `${arm}-${seed}`, arm, seed },
        arm: { name: arm, params: { rate: 2 }, seeds: [] },
        parent_run: 'run_1',
      })
      await store.append('experiment:exp_1', 1, [added(2, 'run_2', 'a', 2), added(3, 'run_3', 'b', 1)])
      await store.append('experiment:exp_1', 3, [added(4, 'run_9', 'b', 1)]) // begun again after a crash
      const runs = await store.runs('exp_1')
      expect(runs.map(({ id, arm, seed, status, parentRun }) => [id, arm, seed, status, parentRun])).toEqual([
        ['run_1', 'a', 1, 'pending', undefined],
        ['run_2', 'a', 2, 'pending', 'run_1'],
        ['run_3', 'b', 1, 'pending', 'run_1'],
      ])
      const grown = (await store.experiment('exp_1'))?.plan
      expect(grown?.arms).toEqual([
        { name: 'a', params: {}, seeds: [1, 2] },
        { name: 'b', params: { rate: 2 }, seeds: [1] },
      ])
      expect(grown?.runs.map(({ name }) => name)).toEqual(['a-1', 'a-2', 'b-1'])
    })

    it('are recorded once by many at once (STO-2)', async () => {
      const address = under.address()
      const stores = [await openForTest(address), await openForTest(address)]
      const created = { experimentId: 'exp_1', at: TIME, plan: samplePlan({}), runIds: ['run_1'], provenance: {} }
      await Promise.all([...stores, ...stores].map((store) => store.createExperiment(created)))
      expect((await stores[0]?.usage())?.rows).toMatchObject({ experiment: 1, run: 1, event: 1 })
    })

    it('never share an id (STO-2)', async () => {
      const store = await openForTest(under.address())
      const created = { experimentId: 'exp_1', at: TIME, plan: samplePlan({}), runIds: ['run_1'], provenance: {} }
      await store.createExperiment(created)
      const other = { ...created, plan: samplePlan({ configHash: 'other' }) }
      await expect(store.createExperiment(other)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
      await expect(store.createExperiment({ ...created, runIds: ['run_9'] })).rejects.toMatchObject({
        code: 'STORE_CONFLICT',
      })
      await expect(store.createExperiment({ ...created, runIds: [] })).rejects.toMatchObject({ code: 'INTERNAL' })
      await expect(store.createExperiment({ ...created, experimentId: 'exp_2' })).rejects.toMatchObject({
        code: 'STORE_FAILED',
      })
      expect(await store.experiment('exp_2')).toBeUndefined()
    })

    it('are listed newest first, by configuration and status (STO-7)', async () => {
      const store = await openForTest(under.address())
      const ids: string[] = []
      for (const [i, configHash] of ['c1', 'c2', 'c1'].entries()) {
        ids.push((await recordSample(store, { configHash, at: `2026-01-0${i + 1}T00:00:00.000Z` })).experimentId)
      }
      const [first = '', second = '', third = ''] = ids
      const found = async (query: Parameters<typeof store.experiments>[0]) =>
        (await store.experiments(query)).map(({ id }) => id)
      expect(await found({ limit: 9 })).toEqual([third, second, first])
      expect(await found({ limit: 2 })).toEqual([third, second])
      expect(await found({ limit: 9, configHash: 'c1' })).toEqual([third, first])
      await store.append(`experiment:${third}`, 1, [
        {
          type: 'experiment.finished',
          seq: 2,
          at: TIME,
          experiment_id: third,
          status: 'completed',
          verdict: 'failed',
          conclusion: '',
        },
      ])
      expect(await found({ limit: 9, configHash: 'c1', statuses: ['running', 'stopped'] })).toEqual([first])
      expect(await found({ limit: 9, statuses: [] })).toEqual([])
    })

    it('are found by id, by name and by the beginning of an id (STO-7)', async () => {
      const store = await openForTest(under.address())
      const plan = samplePlan({ name: 'lr_sweep' })
      for (const [i, experimentId] of ['exp_01aa', 'exp_01ab', 'exp_02%_'].entries()) {
        const at = `2026-01-0${i + 1}T00:00:00.000Z`
        await store.createExperiment({ experimentId, at, plan, runIds: [`run_${i}`], provenance: {} })
      }
      expect((await store.findExperiment('exp_01aa')).id).toBe('exp_01aa')
      expect((await store.findExperiment('lr_sweep')).id).toBe('exp_02%_') // the newest
      expect((await store.findExperiment('exp_02')).id).toBe('exp_02%_')
      expect((await store.findExperiment('exp_02%_')).id).toBe('exp_02%_')
      for (const [reference, many] of [
        ['exp_01', 'more than one'],
        ['exp', 'more than one'],
        ['exp%', 'no'],
        ['exp_01_', 'no'],
        ['', 'no'],
        ["'; --", 'no'],
      ]) {
        await expect(store.findExperiment(reference ?? '')).rejects.toMatchObject({
          code: many === 'no' ? 'STORE_MISSING' : 'STORE_AMBIGUOUS',
          message: expect.stringContaining(`has ${many} experiment`),
          fix: expect.stringContaining('evsys history'),
        })
      }
    })

    it('give their runs by id, by experiment and name, and by the beginning of an id (STO-7)', async () => {
      const store = await openForTest(under.address())
      const plan = samplePlan({ name: 'one', seeds: [1, 2] })
      await store.createExperiment({
        experimentId: 'exp_1',
        at: TIME,
        plan,
        runIds: ['run_1a', 'run_1b'],
        provenance: {},
      })
      expect((await store.findRun('a-2')).id).toBe('run_1b')
      const other = samplePlan({ name: 'two', seeds: [2] })
      await store.createExperiment({ experimentId: 'exp_2', at: TIME, plan: other, runIds: ['run_2a'], provenance: {} })
      expect((await store.findRun('run_1a')).id).toBe('run_1a')
      expect((await store.findRun('two/a-2')).id).toBe('run_2a')
      expect((await store.findRun('exp_1/a-2')).id).toBe('run_1b')
      expect((await store.findRun('run_2')).id).toBe('run_2a')
      for (const reference of ['a-2', 'run_1']) {
        await expect(store.findRun(reference)).rejects.toMatchObject({ code: 'STORE_AMBIGUOUS' })
      }
      for (const reference of ['one/a-9', 'nine/a-1', '']) {
        await expect(store.findRun(reference)).rejects.toMatchObject({ code: 'STORE_MISSING' })
      }
    })

    it('keep what a run left behind (STO-2)', async () => {
      const store = await openForTest(under.address())
      const { runIds } = await recordSample(store)
      const [runId = ''] = runIds
      await store.keepArtifact(runId, { name: 'prompt', kind: 'text', ref: 'blob:1' })
      await store.keepArtifact(runId, { name: 'prompt', kind: 'text', ref: 'blob:2' })
      await store.keepArtifact(runId, { name: 'card', kind: 'report', ref: 'file:x' })
      expect(await store.artifacts(runId)).toEqual([
        { name: 'card', kind: 'report', ref: 'file:x' },
        { name: 'prompt', kind: 'text', ref: 'blob:2' },
      ])
      await expect(store.keepArtifact('run_9', { name: 'x', kind: 'x', ref: 'x' })).rejects.toMatchObject({
        code: 'STORE_MISSING',
      })
    })

    it('are unknown until they are there, and streams without an owner are refused (STO-2)', async () => {
      const store = await openForTest(under.address())
      expect(await store.experiment('exp_9')).toBeUndefined()
      expect(await store.run('run_9')).toBeUndefined()
      expect(await store.runs('exp_9')).toEqual([])
      expect(await store.cursor('run:run_9')).toEqual({ nextItem: 1, nextEvent: 1 })
      const events = eventsOf('run_9', [{ type: 'notice', text: 'x' }])
      await expect(store.push({ stream: 'run:run_9', fromSeq: 1, items: events })).rejects.toMatchObject({
        code: 'STORE_MISSING',
      })
      await expect(store.append('run:run_9', 0, events)).rejects.toMatchObject({ code: 'STORE_MISSING' })
      expect(await store.cursor('run:run_9')).toEqual({ nextItem: 1, nextEvent: 1 })
    })
  })
}
