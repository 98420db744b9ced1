import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Program } from '../../src/engine/cpu/program.ts'
import type { Runtime } from '../../src/engine/cpu/runtime.ts'
import { compiler, openNative, openWasm } from './kernels/kernel-runtimes.ts'

describe('kernels as plain WebAssembly', () => describeFaults(() => openWasm(3, false)))
describe('kernels as WebAssembly with relaxed SIMD', () => describeFaults(() => openWasm(3, true)))
compiler.describe('kernels compiled here', () => describeFaults(() => openNative(3)))

function describeFaults(open: () => Promise<Runtime>): void {
  let runtime: Runtime
  let y: number
  beforeAll(async () => {
    runtime = await open()
    y = runtime.alloc(400)
  }, 240_000)
  afterAll(() => runtime[Symbol.asyncDispose]())

  const fills = (count: number, value: number) => {
    const program = new Program()
    for (let i = 0; i < count; i++) program.add('fill', { y, n: 100, value: i })
    return program.add('fill', { y, n: 100, value })
  }

  it('lose a program with the thread that computes it, whichever it is and however often, and run the next one (CPU-6)', () => {
    for (let i = 0; i < 60; i++) {
      const lost = new Program().add('fill', { y, n: 100, value: 0 }).add('trap', { thread: i })
      expect(() => runtime.run(lost)).toThrow(expect.objectContaining({ code: 'BACKEND_FAILED' }))
      runtime.run(fills(20, i))
      expect(runtime.f32(y, 100).every((value) => value === i)).toBe(true)
    }
  })
}
