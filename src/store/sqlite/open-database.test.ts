import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { openStore } from '../open-store.ts'
import { loadDriver, patiently } from './open-database.ts'

const folder = temporaryFolders()
const locked = new Error('database is locked')

describe('patiently', () => {
  it('tries until the lock is free (STO-12)', async () => {
    let n = 0
    const work = () => {
      n += 1
      if (n < 4) throw locked
      return n
    }
    expect(await patiently(work)).toBe(4)
  })

  it('gives up when its patience ends, and at once for other reasons (STO-12)', async () => {
    const never = () => {
      throw locked
    }
    await expect(patiently(never, { ms: 5 })).rejects.toBe(locked)
    let n = 0
    const broken = () => {
      n += 1
      throw new Error('disk I/O error')
    }
    await expect(patiently(broken)).rejects.toThrow('disk I/O error')
    expect(n).toBe(1)
  })

  it('lets a store wait for a writer of another process without standing still (STO-12)', async () => {
    const file = join(folder(), 'evsys.db')
    await using store = await openStore(file)
    const Database = await loadDriver()
    const other = new Database(file)
    other.exec('begin immediate')
    let isDone = false
    const waiting = store.leases.acquire('x', 'me', 1000).finally(() => {
      isDone = true
    })
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve)) // others have their turn
    expect(isDone).toBe(false)
    other.exec('commit')
    expect(await waiting).toMatchObject({ epoch: 1 })
    other.close()
  })
})
