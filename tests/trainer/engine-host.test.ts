import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mockVocabSize } from '../../src/backends/models/mock-models.ts'
import { engineModule, openEngineHost } from '../../src/trainer/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { datum, forwardBackward, optimStep, runningTrainers } from './running-trainer.ts'

const start = runningTrainers()
const folder = temporaryFolders()
const { signal } = new AbortController()
const data = [datum([1, 2, 3])]

describe.each(['thread', 'process'] as const)('an engine in a %s', { timeout: 240_000 }, (home) => {
  /** A module whose engine does what the code says. */
  function moduleOf(code: string) {
    const file = join(folder(), 'engine.mjs')
    writeFileSync(
      file,
      `const id = { kind: 'test', sourceHash: '${'0'.repeat(64)}', threads: 1, cpuFeatures: [] }
       export const openEngine = () => ({ id, async run(op) { ${code} }, async [Symbol.asyncDispose]() {} })`,
    )
    return { url: pathToFileURL(file).href, options: {}, home }
  }
  const mock = () => openEngineHost({ ...engineModule({ kind: 'mock', vocabSize: mockVocabSize }), home })

  it('gives what it gives without one, errors too (TRN-14)', async () => {
    await using engine = await mock()
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

  it('carries weights of any size, in their order among other requests (TRN-14)', async () => {
    // Says what came; what is large takes longer on its way.
    const code = `
      globalThis.seen ??= []
      if (op.op === 'import') { seen.push(op.bytes.length, op.bytes.at(-1)); return { done: true } }
      if (op.op === 'export') return { bytes: new Uint8Array(Number(op.model)).fill(5) }
      seen.push(op.op)
      return { metrics: Object.fromEntries(seen.entries()) }`
    await using engine = await openEngineHost(moduleOf(code))
    const [, , , last] = await Promise.all([
      engine.run({ op: 'import', model: 'm', bytes: new Uint8Array(3e6).fill(7), optimizer: false }, signal),
      engine.run({ op: 'unload', model: 'm' }, signal),
      engine.run({ op: 'import', model: 'm', bytes: new Uint8Array(10).fill(9), optimizer: false }, signal),
      engine.run({ op: 'unload', model: 'm' }, signal),
    ])
    expect(last).toEqual({ metrics: { 0: 3e6, 1: 7, 2: 'unload', 3: 10, 4: 9, 5: 'unload' } })
    for (const length of [0, 1000, 262_144, 262_145, 5_000_000]) {
      const result = await engine.run({ op: 'export', model: String(length) }, signal)
      const bytes = 'bytes' in result ? result.bytes : expect.fail('no bytes')
      expect(bytes.length).toBe(length)
      expect(bytes.every((byte) => byte === 5)).toBe(true)
    }
  })

  it('leaves polls and heartbeats answered while it computes without a breath (TRN-14)', async () => {
    const code = `
      if (op.op === 'create') return { done: true }
      const end = new Int32Array(op.data[0].lossInputs.weights.data.length)
      const until = performance.now() + 1500
      while (performance.now() < until) end[0]++
      return { fwdBwd: { outputs: [], metrics: { 'loss:sum': 1 } } }`
    await using engine = await openEngineHost(moduleOf(code))
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
    await using engine = await openEngineHost(moduleOf(code))
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

  it('that cannot be opened is told, with what to do (TRN-14)', async () => {
    await expect(openEngineHost({ url: 'file:///no/such/module.mjs', options: {}, home })).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
    })
    const file = join(folder(), 'engine.mjs')
    const error = `Object.assign(new Error('no compiler'), { [Symbol.for('evsys.error')]: true, code: 'BACKEND_REFUSED', fix: 'get one.' })`
    writeFileSync(file, `export const openEngine = () => { throw ${error} }`)
    await expect(openEngineHost({ url: pathToFileURL(file).href, options: {}, home })).rejects.toMatchObject({
      ...{ code: 'BACKEND_REFUSED', message: 'no compiler', fix: 'get one.' },
    })
  })
})

describe('an engine in a process', { timeout: 240_000 }, () => {
  it('is killed by any signal without the trainer, which says which (TRN-14)', async () => {
    const file = join(folder(), 'engine.mjs')
    writeFileSync(
      file,
      `const id = { kind: 'test', sourceHash: '${'0'.repeat(64)}', threads: 1, cpuFeatures: [] }
       export const openEngine = () => ({
         id,
         async run(op) {
           if (op.model === 'fine') return { done: true }
           process.kill(process.pid, op.model)
           for (;;) ;
         },
         async [Symbol.asyncDispose]() {},
       })`,
    )
    await using engine = await openEngineHost({ url: pathToFileURL(file).href, options: {}, home: 'process' })
    const losses: string[] = []
    engine.onLost(({ message }) => losses.push(message))
    for (const [name, words] of [
      ['SIGSEGV', 'SIGSEGV'],
      ['SIGABRT', 'SIGABRT'],
      ['SIGKILL', 'memory runs out'],
    ] as const) {
      await expect(engine.run({ op: 'unload', model: name }, signal)).rejects.toMatchObject({
        ...{ code: 'BACKEND_FAILED', retryable: true, message: expect.stringContaining(words) },
        fix: expect.stringContaining('last checkpoint'),
      })
      expect(await engine.run({ op: 'unload', model: 'fine' }, signal)).toEqual({ done: true })
    }
    expect(losses).toHaveLength(3)
  })
})
