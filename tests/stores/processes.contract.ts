import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { recordSample } from '../sample-plan.ts'
import { scaled } from '../scale.ts'
import { type Child, startChild } from '../start-child.ts'
import { openRaw } from './open-raw.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describeProcesses(under: StoreUnderTest): void {
  describe('processes', () => {
    it('write at once, four of them, and two are killed: nothing acknowledged is lost (STO-12)', async () => {
      for (let round = 0; round < scaled(1); round++) {
        const random = keyedRandom(round, 'kill a writer')
        const address = under.address()
        const store = await openForTest(address)
        const { runIds } = await recordSample(store, { seeds: [1, 2, 3, 4] })
        const writers = runIds.map((runId, i) => {
          return {
            runId,
            isVictim: i < 2,
            child: startChild('store-writer', [address, runId, i < 2 ? '1000000' : '40']),
          }
        })
        const acknowledged = await Promise.all(
          writers.map(({ child, isVictim }) =>
            lastLine(child, isVictim ? 2 + Math.floor(random.float() * 40) : undefined),
          ),
        )
        for (const [i, { runId, isVictim }] of writers.entries()) {
          const { nextItem } = await store.cursor(`run:${runId}`)
          const acked = Number(acknowledged[i])
          expect(nextItem).toBeGreaterThanOrEqual(acked)
          if (!isVictim) expect(nextItem).toBe(1 + 3 * 40)
          await checkBatches(store, runId)
        }
        await checkSound(address)
      }
    })

    it('write while a backup is made, which has whole batches only (STO-14)', async () => {
      const address = under.address()
      const store = await openForTest(address)
      const { runIds } = await recordSample(store, { seeds: [1, 2] })
      await using left = startChild('store-writer', [address, runIds[0] ?? '', '1000000'])
      await using right = startChild('store-writer', [address, runIds[1] ?? '', '1000000'])
      for (let round = 0; round < 3; round++) {
        const acknowledged = await Promise.all([left, right].map(nextAcknowledged))
        const file = await store.backup(join(under.folder(), 'copy.db'))
        await checkSound(file)
        const copy = await openForTest(file)
        for (const [i, runId] of runIds.entries()) {
          expect((await copy.cursor(`run:${runId}`)).nextItem).toBeGreaterThanOrEqual(acknowledged[i] ?? 0)
          await checkBatches(copy, runId)
        }
      }
    })

    it('share jobs, and one is killed: every job ends, every step has one output (STO-10)', async () => {
      for (let round = 0; round < scaled(2); round++) {
        const random = keyedRandom(round, 'kill a worker')
        const address = under.address()
        const log = join(under.folder(), 'log')
        const ids = Array.from({ length: 6 }, (_, i) => `job ${i}`)
        const jobs = (await openForTest(address)).jobs({ leaseMs: 1000, attempts: 9, backoffMs: 1, maxBackoffMs: 1 })
        for (const id of ids) await jobs.submit(id, null)
        await using victim = startChild('job-worker', [address, 'victim', log, ...ids])
        await using survivor = startChild('job-worker', [address, 'survivor', log, ...ids])
        const seen = lastLine(victim, 2 + Math.floor(random.float() * 12))
        const rest = lastLine(survivor)
        await seen
        await rest
        expect(await survivor.exit()).toBe(0)
        for (const id of ids) expect(await jobs.state(id)).toMatchObject({ state: 'done' })
        await checkSteps(address, ids, readFileSync(log, 'utf8'))
        await checkSound(address)
      }
    })
  })
}

/** Reads lines until the child ends, or until `count` of them came and it is killed. The last line that it printed. */
async function lastLine(child: Child, count = Number.POSITIVE_INFINITY): Promise<string> {
  let last = ''
  for (let n = 0; ; n++) {
    if (n === count) await child.kill()
    const line = await child.line().catch(() => undefined)
    if (line === undefined) return last
    last = line
  }
}

/** The next number that a writer tells; its first line says that it is there. */
async function nextAcknowledged(writer: Child): Promise<number> {
  const line = await writer.line()
  return line === 'open' ? nextAcknowledged(writer) : Number(line)
}

/** Batches of the child `store-writer` are whole: its events, its points and the cursor agree. */
async function checkBatches(store: Store, runId: string): Promise<void> {
  const { nextItem, nextEvent } = await store.cursor(`run:${runId}`)
  expect(nextItem % 3).toBe(1)
  const batches = (nextItem - 1) / 3
  expect(nextEvent).toBe(1 + 2 * batches)
  const events = await store.events({ stream: `run:${runId}`, afterSeq: 0, limit: 1e6 })
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * batches }, (_, n) => n + 1))
  expect(await store.curve({ runId, key: 'loss', maxPoints: 1e6 })).toHaveLength(batches)
  expect(await store.curve({ runId, key: 'tokens', maxPoints: 1e6 })).toHaveLength(2 * batches)
}

async function checkSteps(address: string, ids: readonly string[], log: string): Promise<void> {
  const { query } = await openRaw(address)
  const rows = await query.selectFrom('job_step').selectAll().orderBy('step_key').execute()
  expect(rows).toHaveLength(6 * ids.length)
  for (const id of ids) {
    const outputs = rows.filter((row) => row.job_id === id).map((row) => JSON.parse(row.output).output)
    expect(outputs[0], 'what the job saw').toEqual(outputs.slice(1))
    for (const nonce of outputs.slice(1)) expect(log).toContain(`${id} ${nonce}\n`)
  }
}

async function checkSound(address: string): Promise<void> {
  const database = await openRaw(address)
  if (database.kind === 'postgres') return
  const checked = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(database.query)
  expect(checked.rows).toEqual([{ integrity_check: 'ok' }])
  const orphans = await sql`pragma foreign_key_check`.execute(database.query)
  expect(orphans.rows).toEqual([])
}
