import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { workQueue } from './cpu/work-queue.ts'
import { keepSpeed, keptSpeed } from './engine-speed.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()

describe('the speed of an engine', () => {
  it('is measured once for a machine and an engine, and read by others (CPU-44)', async () => {
    const cache = join(folder(), 'new')
    let measured = 0
    const measure = () => 12.3456 + measured++
    expect(await keptSpeed(cache, 'cpu-wasm-1')).toBeUndefined()
    await keepSpeed(cache, 'cpu-wasm-1', measure)
    await keepSpeed(cache, 'cpu-wasm-1', measure)
    expect(await keptSpeed(cache, 'cpu-wasm-1')).toBe(12.3)
    expect(measured).toBe(1)
    await keepSpeed(cache, 'cpu-wasm-2', measure)
    expect(await keptSpeed(cache, 'cpu-wasm-2')).toBe(13.3)
  })

  it('is measured again where what was kept is damaged (CPU-44)', async () => {
    const cache = folder()
    await keepSpeed(cache, 'cpu', () => 1)
    for (const file of readdirSync(join(cache, 'speed'))) writeFileSync(join(cache, 'speed', file), '{"gflops":')
    expect(await keptSpeed(cache, 'cpu')).toBeUndefined()
    await keepSpeed(cache, 'cpu', () => 2)
    expect(await keptSpeed(cache, 'cpu')).toBe(2)
  })

  it('waits for the answer to the first step, and what it costs when it fails is nothing (CPU-44)', async () => {
    const done: string[] = []
    const engine = workQueue({
      id: { kind: 'cpu-wasm', sourceHash: '0', threads: 1, cpuFeatures: [] },
      first: async () => {
        done.push('first')
        throw new Error('told to whoever needs it')
      },
      afterFirstStep: async () => {
        done.push('measured')
        throw new Error('nobody needs it')
      },
      async perform({ op }) {
        done.push(op)
        return { done: true }
      },
      async sample() {},
      close() {},
    })
    const adam = { learningRate: 1, beta1: 0, beta2: 0, eps: 1 }
    const step = async () => {
      await engine.run({ op: 'optim_step', model: 'm', adam }, signal)
      done.push('answered')
    }
    await engine.run({ op: 'unload', model: 'm' }, signal)
    await step()
    await step()
    await engine[Symbol.asyncDispose]()
    expect(done.filter((each) => each !== 'answered')).toEqual([
      'first',
      'unload',
      'optim_step',
      'measured',
      'optim_step',
    ])
  })
})
