import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mockVocabSize } from '../../src/backends/mock/special-tokens.ts'
import { engineModule, openEngineThread } from '../../src/trainer/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { datum, forwardBackward, optimStep, runningTrainers } from './running-trainer.ts'

const start = runningTrainers()
const folder = temporaryFolders()
const { signal } = new AbortController()
const data = [datum([1, 2, 3])]

/** A module whose engine does what the base model's name says. */
function moduleOf(code: string): { url: string; options: unknown } {
  const file = join(folder(), 'engine.mjs')
  writeFileSync(
    file,
    `const id = { kind: 'test', sourceHash: '${'0'.repeat(64)}', threads: 1, cpuFeatures: [] }
     export const openEngine = () => ({ id, async run(op) { ${code} }, async [Symbol.asyncDispose]() {} })`,
  )
  return { url: pathToFileURL(file).href, options: {} }
}

describe('an engine in a thread', { timeout: 60_000 }, () => {
  it('gives what it gives without one, errors too (TRN-14)', async () => {
    await using engine = await openEngineThread(engineModule({ kind: 'mock', vocabSize: mockVocabSize }))
    expect(engine.id.kind).toBe('mock')
    await engine.run({ op: 'create', model: 'm', baseModel: 'b' }, signal)
    const { bytes } = await engine
      .run({ op: 'export', model: 'm' }, signal)
      .then((result) => ('bytes' in result ? result : { bytes: undefined }))
    expect(bytes?.length).toBeGreaterThan(1000)
    await expect(engine.run({ op: 'export', model: 'none' }, signal)).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
      message: expect.stringContaining('none'),
    })
    await expect(engine.run({ op: 'export', model: 'm' }, AbortSignal.abort())).rejects.toThrow()
  })

  it('leaves polls and heartbeats answered while it computes without a breath (TRN-14)', async () => {
    const code = `
      if (op.op === 'create') return { done: true }
      const end = new Int32Array(op.data[0].lossInputs.weights.data.length)
      const until = performance.now() + 1500
      while (performance.now() < until) end[0]++
      return { fwdBwd: { outputs: [], metrics: { 'loss:sum': 1 } } }`
    await using engine = await openEngineThread(moduleOf(code))
    const trainer = await start({ engine, limits: { holdMs: 50 } })
    const session = await trainer.session()
    const model = await trainer.model(session)
    const promise = await trainer.post('forward_backward', forwardBackward(model, 1, data))
    let beats = 0
    for (let poll = await pending(); poll; poll = await pending()) {
      await trainer.post('session_heartbeat', { session_id: session })
      beats++
    }
    async function pending() {
      return (await trainer.post('retrieve_future', promise)).type === 'try_again'
    }
    expect(beats).toBeGreaterThan(3)
  })

  it('that dies fails what it was asked, and the next model finds a new one (TRN-14)', async () => {
    const code = `
      if (op.op === 'create') return { done: true }
      if (op.op === 'optim_step') process.exit(3)
      return { fwdBwd: { outputs: [], metrics: { 'loss:sum': 1 } } }`
    await using engine = await openEngineThread(moduleOf(code))
    const trainer = await start({ engine })
    const session = await trainer.session()
    const model = await trainer.model(session)
    expect(await trainer.run('optim_step', optimStep(model, 1))).toEqual({
      error: expect.stringContaining('the engine has ended'),
      category: 'server',
    })
    expect((await trainer.send('forward_backward', forwardBackward(model, 2, data))).status).toBe(410)
    const next = await trainer.model(session, { seq: 1 })
    expect(await trainer.run('forward_backward', forwardBackward(next, 1, data))).toHaveProperty('metrics')
  })

  it('that cannot be opened is told (TRN-14)', async () => {
    await expect(openEngineThread({ url: 'file:///no/such/module.mjs', options: {} })).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
    })
  })
})
