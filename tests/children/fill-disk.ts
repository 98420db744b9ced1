// Uses a record on a disk that runs full again and again: `fill-disk DIR`. Fills the disk with ballast but for a few bytes, tries
// everything that writes, frees the disk, and goes on. Prints, as JSON, the errors it met and whether anything was lost.
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Item } from '../../src/contracts/index.ts'
import { EvsysError } from '../../src/kernel/index.ts'
import { openStore } from '../../src/store/index.ts'
import { loadDriver } from '../../src/store/sqlite/open-database.ts'
import { recordRun } from '../sample-plan.ts'

const [dir = ''] = process.argv.slice(2)
const file = join(dir, 'evsys.db')
const ballast = join(dir, 'ballast')
const errors = new Set<string>()
const told: string[] = []
const lost: string[] = []

function leave(bytes: number): void {
  rmSync(ballast, { force: true })
  const { bavail, bsize } = statfsSync(dir)
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
}

async function attempt(what: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (!EvsysError.is(error)) told.push(`${what}: raw ${String(error)}`)
    else if (error.code !== 'STORE_FAILED' || error.fix === undefined)
      told.push(`${what}: ${error.code} ${error.message}`)
    else errors.add(error.message.replace(dir, 'DIR'))
    return false
  }
}

for (const [round, pages] of [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144].entries()) {
  rmSync(ballast, { force: true })
  let store = await openStore(file)
  const runId = await recordRun(store)
  leave(4096 * pages)
  let next = 1
  let points = 0
  const text = 'x'.repeat(3000)
  for (let n = 0; n < 40; n++) {
    const item: Item = {
      type: 'log',
      seq: next - points,
      at: '2026-01-01T00:00:00Z',
      run_id: runId,
      level: 'info',
      text,
    }
    if (await attempt('push', () => store.push({ stream: `run:${runId}`, fromSeq: next, items: [item] }))) next += 1
    const batch = { type: 'points' as const, run_id: runId, key: ['loss'], step: [points], value: [points], at_ms: [1] }
    if (await attempt('points', () => store.push({ stream: `run:${runId}`, fromSeq: next, items: [batch] }))) {
      points += 1
      next += 1
    }
  }
  await attempt('open', async () => void (await (await openStore(file))[Symbol.asyncDispose]()))
  await attempt('backup', () => store.backup(join(dir, `copy ${round}`)))
  await attempt('compact', () => store.compact())
  await attempt('job', () =>
    store.jobs({ leaseMs: 1, attempts: 1, backoffMs: 1, maxBackoffMs: 1 }).submit(`${round}`, text),
  )
  await attempt('lease', () => store.leases.acquire(`${round}`, 'me', 1000, text))
  // One record is closed while the disk is full, the other after space was freed.
  const isClosedFull = round % 2 === 0
  if (isClosedFull) await attempt('close', async () => void (await store[Symbol.asyncDispose]()))
  rmSync(ballast, { force: true })
  if (isClosedFull) store = await openStore(file)
  const { nextItem } = await store.cursor(`run:${runId}`)
  if (nextItem < next) lost.push(`round ${round}: ${next - nextItem} items`)
  const found = await store.curve({ runId, key: 'loss', maxPoints: 1000 })
  if (found.length !== points) lost.push(`round ${round}: ${points - found.length} points`)
  if (!(await attempt('push again', () => store.verdicts.invalidate(runId, 'x')))) lost.push('the record')
  await store[Symbol.asyncDispose]()
}

const Database = await loadDriver()
const sound = new Database(file).prepare('pragma integrity_check').all()
const left = readdirSync(dir).filter((name) => name.includes('partial'))
process.stdout.write(`${JSON.stringify({ errors: [...errors], told, lost, sound, left })}\n`)
