import { describe, expect, it } from 'vitest'
import { manualClock } from '../../src/kernel/index.ts'
import { recordSample } from '../sample-plan.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describeVerdicts(under: StoreUnderTest): void {
  describe('verdicts', () => {
    it('keep the numbers behind a conclusion and what it took (STO-8)', async () => {
      const store = await openForTest(under.address())
      const { experimentId } = await recordSample(store)
      const evidence = { effect: 0.031, interval: [0.01, 0.05], text: 'a\0b' }
      await store.verdicts.evidence(experimentId, evidence, { wallS: 12.5 })
      expect(await store.experiment(experimentId)).toMatchObject({ evidence, wallS: 12.5 })
      expect(await store.experiment(experimentId)).not.toHaveProperty('costUsd') // unknown is not zero
      await store.verdicts.evidence(experimentId, evidence, { wallS: 1, costUsd: 1e-18 })
      expect(await store.experiment(experimentId)).toMatchObject({ costUsd: 1e-18 })
    })

    it('add an author’s words beside what was computed, in order, also by many at once (STO-8)', async () => {
      const address = under.address()
      const clock = manualClock(Date.parse('2026-05-06T07:08:09.000Z'))
      const [store, other] = [await openForTest(address, { clock }), await openForTest(address, { clock })]
      const { experimentId } = await recordSample(store)
      await store.verdicts.conclude(experimentId, 'mo', 'The seed did it.')
      expect((await store.experiment(experimentId))?.words).toEqual([
        { at: '2026-05-06T07:08:09.000Z', author: 'mo', text: 'The seed did it.' },
      ])
      const texts = Array.from({ length: 8 }, (_, i) => `word ${i}`)
      await Promise.all(texts.map((text, i) => (i % 2 ? store : other).verdicts.conclude(experimentId, 'jo', text)))
      const words = (await store.experiment(experimentId))?.words.map(({ text }) => text)
      expect(words?.slice(1).sort()).toEqual(texts)
      expect(words?.[0]).toBe('The seed did it.')
    })

    it('take a run out of what counts, and leave its data (STO-8)', async () => {
      const store = await openForTest(under.address())
      const { runIds } = await recordSample(store, { seeds: [1, 2] })
      const [runId = '', other = ''] = runIds
      await store.verdicts.invalidate(runId, 'trained on the test split')
      expect(await store.run(runId)).toMatchObject({ invalid: 'trained on the test split', status: 'pending' })
      expect(await store.run(other)).not.toHaveProperty('invalid')
    })

    it('note what a run was derived from, a key at a time (STO-8)', async () => {
      const store = await openForTest(under.address())
      const { runIds } = await recordSample(store, { seeds: [1, 2] })
      const [runId = '', parentRun = ''] = runIds
      await store.verdicts.note(runId, {
        parentRun,
        diff: '-a\n+b',
        category: 'optimizer',
        mode: 'exploit',
        description: 'more',
      })
      await store.verdicts.note(runId, { kept: false, claimed: { bpb: 0.9979 } })
      await store.verdicts.note(runId, {})
      expect(await store.run(runId)).toMatchObject({
        parentRun,
        diff: '-a\n+b',
        category: 'optimizer',
        mode: 'exploit',
        description: 'more',
        kept: false,
        claimed: { bpb: 0.9979 },
      })
    })

    it('of what is not there are errors (STO-8)', async () => {
      const store = await openForTest(under.address())
      for (const attempt of [
        () => store.verdicts.evidence('exp_9', {}, { wallS: 1 }),
        () => store.verdicts.conclude('exp_9', 'mo', 'x'),
        () => store.verdicts.invalidate('run_9', 'x'),
        () => store.verdicts.note('run_9', { kept: true }),
      ]) {
        await expect(attempt()).rejects.toMatchObject({ code: 'STORE_MISSING' })
      }
    })
  })
}
