import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openRuntime, type RuntimeOptions } from '../../src/engine/cpu/open-runtime.ts'
import { Program } from '../../src/engine/cpu/program.ts'
import type { Runtime } from '../../src/engine/cpu/runtime.ts'
import { openWasmRuntime } from '../../src/engine/cpu/wasm-runtime.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { compiler, quickCompiler } from './kernels/kernel-runtimes.ts'

const folder = temporaryFolders()
const small = { threads: 2, capacityBytes: 1 << 24 }
const open = (options: Partial<RuntimeOptions>) => openRuntime({ ...small, cacheFolder: folder(), ...options })

function computes(runtime: Runtime): boolean {
  const y = runtime.alloc(400)
  runtime.run(new Program().add('fill', { y, n: 100, value: 2 }).add('scale', { y, n: 100, alpha: 3 }))
  const isRight = runtime.f32(y, 100).every((value) => value === 6)
  runtime.free(y)
  return isRight
}

describe('openRuntime', () => {
  const compiled = folder()

  it('needs nothing but Node: without a compiler it is WebAssembly (CPU-5)', async () => {
    await using runtime = await open({ env: { CC: 'no-such-compiler' } })
    expect(runtime.id).toMatchObject({ kind: 'cpu-wasm', threads: 2 })
    expect(computes(runtime)).toBe(true)
    expect(runtime.gflops()).toBeGreaterThan(0)
  })

  it('follows EVSYS_ENGINE, and says what it may be (CPU-5)', async () => {
    await using runtime = await open({ kind: 'native', env: { EVSYS_ENGINE: 'wasm' } })
    expect(runtime.id.kind).toBe('cpu-wasm')
    await expect(open({ env: { EVSYS_ENGINE: 'gpu' } })).rejects.toThrow('EVSYS_ENGINE is "gpu"')
  })

  it('does not fall back where native kernels were asked for (CPU-5)', async () => {
    await expect(open({ kind: 'native', env: { CC: 'no-such-compiler' } })).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
      fix: expect.stringContaining('EVSYS_ENGINE=wasm'),
    })
  })

  compiler.it('compiles once for a machine, and says so (CPU-5)', async () => {
    const told: string[] = []
    const env = { PATH: quickCompiler(folder()) }
    const options = { kind: 'native', cacheFolder: compiled, env, onBuild: (text: string) => told.push(text) } as const
    for (let i = 0; i < 2; i++) {
      await using runtime = await open(options)
      expect(runtime.id.kind).toBe('cpu-native')
      expect(computes(runtime)).toBe(true)
    }
    expect(told).toEqual([expect.stringContaining('compiling')])
    const builds = readdirSync(join(options.cacheFolder, 'native'))
    expect(builds.map((key) => readdirSync(join(options.cacheFolder, 'native', key)))).toEqual([['kernels.node']])
  })

  compiler.it('shows an arena of more than 4 GiB, which costs nothing until it is written (CPU-5)', async () => {
    await using runtime = await open({ kind: 'native', cacheFolder: compiled, capacityBytes: 2 ** 33 })
    const low = runtime.alloc(5 * 2 ** 30)
    const high = runtime.alloc(4096)
    expect(high).toBeGreaterThan(2 ** 32)
    runtime.run(new Program().add('fill', { y: high, n: 1024, value: 7 }).add('fill', { y: low, n: 16, value: 1 }))
    expect(runtime.f32(high, 1024).every((value) => value === 7)).toBe(true)
  })
})

describe('a runtime', () => {
  it('refuses to run after it was closed (CPU-6)', async () => {
    const runtime = await openWasmRuntime({ threads: 1, capacityBytes: 1 << 24 })
    await runtime[Symbol.asyncDispose]()
    expect(() => computes(runtime)).toThrow('closed')
  })

  it('gives the same bytes with any number of threads (CPU-3)', async () => {
    const results = await Promise.all([1, 2, 5].map((threads) => resultsOn(threads)))
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
  })
})

// A product, and attention with its gradient, which are cut in other ways when there are more threads.
async function resultsOn(threads: number): Promise<Float32Array> {
  await using runtime = await openWasmRuntime({ threads, capacityBytes: 1 << 24 })
  let drawn = 0
  const tensor = (length: number) => {
    const at = runtime.alloc(4 * length)
    runtime.f32(at, length).set(Float32Array.from({ length }, (_, i) => Math.sin(i + ++drawn)))
    return at
  }
  const [rows, width] = [150, 32]
  const size = rows * width
  const [x, w, q, k, v] = [tensor(size), tensor(size), tensor(size), tensor(size), tensor(size)]
  const [out, dOut, dq, dk, dv] = [tensor(size), tensor(size), tensor(size), tensor(size), tensor(size)]
  const [lse, work] = [tensor(size), tensor(size)]
  const starts = runtime.alloc(8)
  runtime.i32(starts, 2).set([0, rows])
  const heads = { heads: 2, kvHeads: 2, headDim: 16, ldq: width, ldk: width, ldv: width, scale: 0.25 }
  const attention = { ...heads, q, k, v, out, lse, starts, segments: 1 }
  const sides = { m: rows, n: width, k: width, lda: width, ldb: width, ldc: width }
  runtime.run(
    new Program()
      .add('gemm', { ...sides, a: x, b: w, c: q, transB: true, alpha: 1 })
      .add('attention', attention)
      .add('attentionBack', { ...attention, dq, dk, dv, dOut, work }),
  )
  return Float32Array.from([q, out, dq, dk, dv].flatMap((at) => [...runtime.f32(at, size)]))
}
