import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { keyedRandom } from '../../src/kernel/index.ts'
import { eventsOf, recordRun } from '../sample-plan.ts'
import { putPoints } from './put-points.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

const JOBS = { leaseMs: 60_000, attempts: 1, backoffMs: 1, maxBackoffMs: 1 }
const never = new AbortController().signal

export function describeNames(under: StoreUnderTest): void {
  describe('names', () => {
    it('of 800 bytes are kept everywhere, in every combination (STO-16)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      for (const name of [noise(800), 'é'.repeat(400), '\0'.repeat(800 / 7)]) {
        const jobs = store.jobs({ ...JOBS, queue: name })
        await jobs.submit(name, null)
        expect(
          await jobs.work(name, async (_job, steps) => void (await steps.run(name, z.number(), async () => 1)), never),
        ).toBe('done')
        expect(await store.leases.acquire(name, name, 1000)).toMatchObject({ epoch: 1 })
        const { nextEvent, nextItem } = await store.cursor(`run:${runId}`)
        const scored = {
          split: 'val' as const,
          metrics: { [name]: 1 },
          n_tasks: 0,
          n_infra_failed: 0,
          scorer_hash: 's',
        }
        const items = eventsOf(runId, [{ type: 'eval.finished', benchmark: name, ...scored }], nextEvent)
        await store.push({ stream: `run:${runId}`, fromSeq: nextItem, items })
        await putPoints(store, { type: 'points', run_id: runId, key: [name], step: [0], value: [1], at_ms: [1] })
      }
      expect(await store.evals(runId)).toHaveLength(3)
      expect(await store.metricKeys(runId)).toHaveLength(3)
    })

    it('that are longer or empty are refused (STO-16)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const refused = { code: 'DATA_INVALID', fix: expect.stringContaining('800') }
      for (const name of ['', 'x'.repeat(801), '\0'.repeat(200)]) {
        const jobs = store.jobs(JOBS)
        const point = { type: 'points' as const, run_id: runId, key: [name], step: [0], value: [1], at_ms: [1] }
        for (const attempt of [
          () => putPoints(store, point),
          () => store.leases.acquire(name, 'me', 1),
          () => store.leases.acquire('x', name, 1),
          () => jobs.submit(name, null),
          () => jobs.work(name, async () => {}, never),
          () => store.keepArtifact(runId, { name, kind: 'x', ref: 'x' }),
          () => store.push({ stream: `run:${name}`, fromSeq: 1, items: [] }),
        ]) {
          await expect(attempt()).rejects.toMatchObject({ code: 'DATA_INVALID' })
        }
        if (name !== '') await expect(putPoints(store, point)).rejects.toMatchObject(refused)
      }
    })
  })
}

/** Text that does not compress. */
function noise(length: number): string {
  const random = keyedRandom(1, 'noise')
  return Array.from({ length }, () => String.fromCharCode(33 + Math.floor(random.float() * 90))).join('')
}
