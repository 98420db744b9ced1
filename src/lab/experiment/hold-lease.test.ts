import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventsOf, recordRun } from '../../../tests/sample-plan.ts'
import { startChild } from '../../../tests/start-child.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { identify } from '../../kernel/index.ts'
import { openStore } from '../../store/index.ts'
import { holdLease } from './begin-experiment.ts'

const folder = temporaryFolders()
const open = () => openStore(join(folder(), 'evsys.db'))
const ttlMs = 60_000

describe('the lease of an experiment', () => {
  it('is given back when its holder is done (LAB-32)', async () => {
    await using store = await open()
    {
      await using held = await holdLease(store.leases, 'experiment:a', new AbortController())
      expect(await store.leases.holder('experiment:a')).toMatchObject(held.lease)
    }
    expect(await store.leases.holder('experiment:a')).toBeUndefined()
  })

  it('is refused to a second holder in the same process (LAB-32)', async () => {
    await using store = await open()
    await using _held = await holdLease(store.leases, 'experiment:a', new AbortController())
    await expect(holdLease(store.leases, 'experiment:a', new AbortController())).rejects.toMatchObject({
      code: 'STORE_CONFLICT',
    })
  })

  it('is refused while another process of this machine lives that holds it, which is named (LAB-32)', async () => {
    await using store = await open()
    const owner = JSON.stringify({ host: hostname(), ...identify(process.ppid) })
    await store.leases.acquire('experiment:a', owner, ttlMs, `process ${process.ppid} on this machine`)
    await expect(holdLease(store.leases, 'experiment:a', new AbortController())).rejects.toMatchObject({
      code: 'STORE_CONFLICT',
      message: expect.stringContaining(`process ${process.ppid} on this machine`),
    })
  })

  it('is not waited for when its holder is dead, and is when that cannot be known (LAB-32)', async () => {
    await using store = await open()
    await using child = startChild('core-holder', [folder(), '1'])
    await child.line()
    const dead = identify(child.process.pid)
    await child.kill()
    await store.leases.acquire('experiment:a', JSON.stringify({ host: hostname(), ...dead }), ttlMs)
    await using held = await holdLease(store.leases, 'experiment:a', new AbortController())
    expect(held.lease.epoch).toBe(2)
    for (const owner of [JSON.stringify({ host: 'elsewhere', ...dead }), 'not JSON', '{}']) {
      await store.leases.acquire(`of ${owner}`, owner, ttlMs)
      await expect(holdLease(store.leases, `of ${owner}`, new AbortController())).rejects.toMatchObject({
        code: 'STORE_CONFLICT',
      })
    }
  }, 240_000)

  it('keeps a holder that lost it from writing (LAB-32)', async () => {
    await using store = await open()
    const runId = await recordRun(store)
    await using held = await holdLease(store.leases, 'experiment:a', new AbortController())
    await store.leases.takeOver(held.lease, 'another', ttlMs)
    const items = eventsOf(runId, [{ type: 'notice', text: 'too late' }])
    const late = store.push({ stream: `run:${runId}`, fromSeq: 1, items }, held.lease)
    await expect(late).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    expect(await store.cursor(`run:${runId}`)).toMatchObject({ nextItem: 1 })
  })
})
