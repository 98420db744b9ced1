// Runs a program on kernels and in plain TypeScript, over the same memory, and compares all of it.
import { expect } from 'vitest'
import { Program } from '../../../src/engine/cpu/program.ts'
import type { Runtime } from '../../../src/engine/cpu/runtime.ts'
import { createInterpreter } from '../../cpu-interpreter.ts'

type Tensor = { offset: number; bytes: number; type: 'f32' | 'f64' | 'i32' | 'raw' }

/** Space before and after each tensor, where nothing may be written. */
const margin = 64
const benchBytes = 1 << 22

/** A memory twice: under the kernels and under the interpreter, with the same offsets. */
export class Bench {
  readonly program = new Program()
  readonly #tensors: Tensor[] = []
  readonly #oracle = createInterpreter({ capacityBytes: 4 * benchBytes })
  readonly #runtime: Runtime
  readonly #base: number
  #used = 0
  #seed = 7

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#base = runtime.alloc(benchBytes)
  }

  /** A tensor of values from -1 to 1. */
  random(length: number): number {
    return this.f32(Array.from({ length }, () => this.#draw()))
  }

  /** A tensor whose content is undefined. */
  empty(length: number): number {
    return this.#place('f32', new Uint8Array(4 * length).fill(0xff))
  }

  f32(values: Iterable<number>): number {
    return this.#place('f32', new Uint8Array(Float32Array.from(values).buffer))
  }

  f64(values: Iterable<number>): number {
    return this.#place('f64', new Uint8Array(Float64Array.from(values).buffer))
  }

  i32(values: Iterable<number>): number {
    return this.#place('i32', new Uint8Array(Int32Array.from(values).buffer))
  }

  /** A tensor of bfloat16 from -1 to 1. */
  bf16(length: number): number {
    const floats = new Uint16Array(Float32Array.from({ length }, () => this.#draw()).buffer)
    return this.#place('raw', new Uint8Array(floats.filter((_, i) => i % 2 === 1).buffer))
  }

  /** Bytes that only the kernels understand. */
  scratch(bytes: number): number {
    const offset = this.#place('raw', new Uint8Array(bytes))
    this.#tensors.pop()
    return offset
  }

  read(offset: number, length: number): Float32Array {
    return this.#runtime.f32(offset, length).slice()
  }

  write(offset: number, values: Float32Array): void {
    this.#runtime.f32(offset, values.length).set(values)
  }

  bytes(offset: number, length: number): Uint8Array {
    return this.#runtime.bytes(offset, length).slice()
  }

  run(): void {
    this.#runtime.run(this.program)
    this.program.clear()
  }

  /** Runs the program on both and compares all tensors and the space between them. */
  compare(tolerance = 4e-6): void {
    this.#oracle.run(this.program)
    this.run()
    for (const { offset, bytes, type } of this.#tensors) {
      const what = `tensor at ${offset}`
      for (const edge of [offset - margin, offset + Math.ceil(bytes / 64) * 64]) {
        expect(
          this.bytes(edge, margin).every((byte) => byte === 0xff),
          `space beside the ${what}`,
        ).toBe(true)
      }
      if (type === 'f32')
        expectClose(this.read(offset, bytes / 4), this.#oracle.f32(offset, bytes / 4), tolerance, what)
      else if (type === 'f64') {
        expect(this.#runtime.f64(offset, 1)[0]).toBeCloseTo(this.#oracle.f64(offset, 1)[0] ?? 0, 9)
      } else expect(this.bytes(offset, bytes), what).toEqual(this.#oracle.bytes(offset, bytes).slice())
    }
  }

  [Symbol.dispose](): void {
    this.#runtime.free(this.#base)
  }

  #place(type: Tensor['type'], data: Uint8Array): number {
    const offset = this.#base + this.#used + margin
    const lines = Math.ceil(data.length / 64) * 64
    this.#used += lines + 2 * margin
    if (this.#used > benchBytes) throw new Error('the bench is too small')
    this.#runtime.bytes(offset - margin, lines + 2 * margin).fill(0xff)
    for (const memory of [this.#runtime, this.#oracle]) memory.bytes(offset, data.length).set(data)
    this.#tensors.push({ offset, bytes: data.length, type })
    return offset
  }

  #draw(): number {
    this.#seed = (Math.imul(this.#seed, 1664525) + 1013904223) >>> 0
    return (this.#seed >>> 8) / 2 ** 23 - 1
  }
}

/** Within a part of the largest value, and undefined where it should be. */
function expectClose(got: Float32Array, want: Float32Array, tolerance: number, what: string): void {
  const largest = want.reduce((most, value) => Math.max(most, Number.isFinite(value) ? Math.abs(value) : 0), 0)
  for (const [i, value] of got.entries()) {
    const right = want[i] ?? 0
    const isRight = Number.isFinite(right) ? Math.abs(value - right) <= tolerance * largest : Object.is(value, right)
    if (!isRight) expect.fail(`${what}, element ${i} of ${got.length}: ${value} is not ${right}`)
  }
}
