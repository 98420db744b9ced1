import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { workerLimits } from './worker-limits.ts'
import { createSpareWorker } from './worker-pool.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

const folder = temporaryFolders()
const options = () => ({ projectDir: folder(), limits: workerLimits() })

describe('a spare worker', () => {
  it('that no run takes is closed, and its process is gone (CPU-45)', async () => {
    let worker: WorkerProcess | undefined
    const spare = createSpareWorker((given) => {
      worker = startWorkerProcess(given)
      return worker
    })
    spare.start(options())
    expect(await worker?.isFresh()).toBe(true)
    await spare[Symbol.asyncDispose]()
    expect(await worker?.isFresh()).toBe(false)
  })

  it('belongs to the one who takes it, once, when it knows its plugins (CPU-45)', async () => {
    await using spare = createSpareWorker()
    spare.start(options())
    spare.start(options())
    expect(spare.take()).toBeUndefined()
    spare.load([])
    const taken = spare.take()
    expect(spare.take()).toBeUndefined()
    await spare[Symbol.asyncDispose]()
    expect(await taken?.worker.isFresh()).toBe(true)
    await taken?.worker.close()
    expect(await taken?.worker.isFresh()).toBe(false)
  })
})
