import { afterEach, describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { ModelConfig, RunConfig } from '../../contracts/index.ts'
import { dropSpares, startSpare, takeSpare } from '../../kernel/processes/spare.ts'
import { localBackend } from './local-backend.ts'
import { trainerFork } from './start-trainer-process.ts'
import { trainerSpare } from './trainer-spare.ts'

const folder = temporaryFolders()
const nano = { model: 'evsys/nano' }
const spec = trainerFork('cpu', [nano.model])

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

afterEach(dropSpares)

describe('a trainer that starts before its run', () => {
  it('is the process that the run trains in, and its weights are the model’s (CPU-46)', async () => {
    startSpare(spec)
    const backend = await localBackend.open({
      ...pluginContext(localBackend),
      model: ModelConfig.parse({ name: nano.model }),
      loraRank: 4,
      seed: 1,
      runDir: folder(),
    })
    expect(takeSpare(spec)).toBeUndefined() // it was taken
    expect(backend.engineId).not.toBe('')
    await backend[Symbol.asyncDispose]()
  })

  it('ends when the run wants another, or none (CPU-46)', async () => {
    startSpare(spec)
    expect(takeSpare(trainerFork('cpu', ['evsys/tiny']))).toBeUndefined()
    startSpare(spec)
    expect(takeSpare(trainerFork('cpu', [nano.model, 'evsys/tiny']))).toBeUndefined() // a spare knows a single model
    startSpare(spec)
    const unwanted = takeSpare(spec)
    unwanted?.child.disconnect() // before its code has loaded
    await new Promise<void>((resolve) => unwanted?.child.once('exit', resolve))
    expect(unwanted?.child.exitCode).toBe(0)
    startSpare(spec)
    const dead = takeSpare(spec)
    dead?.child.kill('SIGKILL')
    await new Promise<void>((resolve) => dead?.child.once('exit', resolve))
    expect(dead?.child.connected).toBe(false)
  })

  it('is started for the local backend with the CPU engine, and for no other (CPU-46)', () => {
    expect(trainerSpare(config('evsys/tiny', { kind: 'local' }))?.args).toEqual(['cpu', 'evsys/tiny'])
    expect(trainerSpare(config('evsys/tiny', { kind: 'local', params: { engine: 'mock' } }))).toBeUndefined()
    expect(trainerSpare(config('evsys/tiny', { kind: 'local', params: { engine: 'gpu' } }))).toBeUndefined()
    expect(trainerSpare(config('evsys/tiny', { kind: 'mock' }))).toBeUndefined()
  })
})
