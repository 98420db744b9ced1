import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { ModelConfig, RunConfig } from '../../contracts/index.ts'
import { earlyStart } from './early-start.ts'
import { dropEarly, startEarly, takeEarly } from './early-trainer.ts'
import { localBackend } from './local-backend.ts'

const folder = temporaryFolders()
const nano = { engine: 'cpu', model: 'evsys/nano' }
const start = () => startEarly([nano.engine, nano.model])

function config(model: string, backend: unknown) {
  const { backend: parsed, model: named } = RunConfig.parse({
    name: 'run',
    data: { source_kind: 'in_memory', rows: [{}] },
    model: { name: model },
    algorithm: { kind: 'sft' },
    backend,
  })
  return { backend: parsed, model: named }
}

afterEach(dropEarly)

describe('a trainer that starts before its run', () => {
  it('is the process that the run trains in, and its weights are the model’s (CPU-46)', async () => {
    start()
    start()
    const taken = takeEarly(nano)
    expect(taken?.child.connected).toBe(true)
    taken?.child.kill('SIGKILL')
    start()
    const backend = await localBackend.open({
      ...pluginContext(localBackend),
      model: ModelConfig.parse({ name: nano.model }),
      loraRank: 4,
      seed: 1,
      runDir: folder(),
    })
    expect(takeEarly(nano)).toBeUndefined() // it was taken
    expect(backend.engineId).not.toBe('')
    await backend[Symbol.asyncDispose]()
  })

  it('ends when the run wants another, or none (CPU-46)', async () => {
    start()
    const other = takeEarly({ ...nano, model: 'evsys/tiny' })
    expect(other).toBeUndefined()
    start()
    const unwanted = takeEarly(nano)
    unwanted?.child.disconnect() // before its code has loaded
    if (unwanted !== undefined) await once(unwanted.child, 'exit')
    expect(unwanted?.child.exitCode).toBe(0)
    start()
    const dead = takeEarly(nano)
    dead?.child.kill('SIGKILL')
    if (dead !== undefined) await once(dead.child, 'exit')
    expect(dead?.child.connected).toBe(false)
  })

  it('is started for the local backend with the CPU engine, and for no other (CPU-46)', () => {
    expect(earlyStart(config('evsys/tiny', { kind: 'local' }))?.args).toEqual(['cpu', 'evsys/tiny'])
    expect(earlyStart(config('evsys/tiny', { kind: 'local', params: { engine: 'mock' } }))).toBeUndefined()
    expect(earlyStart(config('evsys/tiny', { kind: 'local', params: { engine: 'gpu' } }))).toBeUndefined()
    expect(earlyStart(config('evsys/tiny', { kind: 'mock' }))).toBeUndefined()
  })
})
