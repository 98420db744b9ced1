// What both runtimes share: views over the arena, its places, and the copy of a program that the kernels read.
import { performance } from 'node:perf_hooks'
import type { EngineId } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { type OpName, ops } from './ops.ts'
import { Program } from './program.ts'
import type { Runtime } from './runtime.ts'

/** Kernels over a memory. */
type Kernels = {
  readonly id: EngineId
  readonly capacityBytes: number
  /** The first byte that is not theirs. */
  readonly start: number
  /** The buffer that shows a place of the arena and what follows, and the place in it. */
  window(offset: number): { buffer: ArrayBufferLike; offset: number }
  /** Runs the words at a byte offset; 0, or the number of a problem and, eight bits higher, the opcode where it is. */
  execute(offset: number, words: number): number
  close(): Promise<void>
}

/** Problems by the number that native/team.h gives them. */
const problems = [
  '',
  'an operation is unknown',
  'the program is cut',
  'the shape is not supported',
  'a thread was lost in a kernel',
  'an operation reaches outside the memory',
]

/** A runtime of these kernels. */
export function arenaRuntime({ id, capacityBytes, start, window, execute, close }: Kernels): Runtime {
  const blocks = new BlockList(Math.max(start, 1), capacityBytes)
  let room = { offset: blocks.alloc(4096), words: 1024 }
  let isClosed = false

  const view = <V>(
    View: new (buffer: ArrayBufferLike, offset: number, length: number) => V,
    at: number,
    length: number,
  ) => {
    const { buffer, offset } = window(at)
    return new View(buffer, offset, length)
  }

  const run = (program: Program) => {
    if (isClosed) throw new EvsysError('INTERNAL', 'the engine’s kernels were closed')
    const { words } = program
    if (words.length > room.words) {
      blocks.free(room.offset)
      room = { offset: blocks.alloc(words.length * 8), words: words.length * 2 }
    }
    view(Int32Array, room.offset, words.length).set(words)
    check(execute(room.offset, words.length))
  }

  return {
    id,
    capacityBytes,
    alloc: (bytes) => blocks.alloc(bytes),
    free: (offset) => blocks.free(offset),
    f32: (offset, length) => view(Float32Array, offset, length),
    f64: (offset, length) => view(Float64Array, offset, length),
    i32: (offset, length) => view(Int32Array, offset, length),
    bytes: (offset, length) => view(Uint8Array, offset, length),
    run,
    gflops() {
      const size = 512
      const [a, b, c] = [0, 0, 0].map(() => blocks.alloc(4 * size * size)) as [number, number, number] // of three
      const shape = { m: size, n: size, k: size, lda: size, ldb: size, ldc: size }
      const fill = new Program()
        .add('fill', { y: a, n: size * size, value: 1 })
        .add('fill', { y: b, n: size * size, value: 1 })
      const product = new Program().add('gemm', { ...shape, a, b, c, transB: true, alpha: 1 })
      run(fill)
      let best = Number.POSITIVE_INFINITY
      for (let i = 0; i < 8; i++) {
        const began = performance.now()
        run(product)
        best = Math.min(best, performance.now() - began)
      }
      for (const offset of [a, b, c]) blocks.free(offset)
      return (2 * size ** 3) / best / 1e6
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return
      isClosed = true
      await close()
    },
  }
}

function check(status: number): void {
  if (status === 0) return
  const [problem, code] = [status & 0xff, status >> 8]
  const op = Object.keys(ops).find((name) => ops[name as OpName].code === code) // its own keys
  const where = op === undefined ? '' : ` (${op})`
  throw new EvsysError('BACKEND_FAILED', `the engine's kernels failed: ${problems[problem] ?? problem}${where}`)
}

// Places in the arena. First fit with joining of neighbours: blocks are few and large, so the list is short. Knows offsets only.
/** Every block starts where a cache line and the widest vector do. */
const alignment = 64

type Gap = { from: number; to: number }

export class BlockList {
  readonly #sizes = new Map<number, number>()
  // By place, never adjacent.
  readonly #gaps: Gap[]

  constructor(from: number, to: number) {
    this.#gaps = [{ from: aligned(from), to: to - (to % alignment) }]
  }

  alloc(bytes: number): number {
    const size = Math.max(alignment, aligned(bytes))
    const index = this.#gaps.findIndex((gap) => gap.to - gap.from >= size)
    const gap = this.#gaps[index]
    if (gap === undefined) throw outOfMemory(size, this.#gaps)
    const { from } = gap
    gap.from += size
    if (gap.from === gap.to) this.#gaps.splice(index, 1)
    this.#sizes.set(from, size)
    return from
  }

  free(offset: number): void {
    const size = this.#sizes.get(offset)
    if (size === undefined) throw new EvsysError('INTERNAL', `nothing was allocated at ${offset} of the arena`)
    this.#sizes.delete(offset)
    const found = this.#gaps.findIndex(({ from }) => from > offset)
    const at = found === -1 ? this.#gaps.length : found
    const [before, after] = [this.#gaps[at - 1], this.#gaps[at]]
    const joinsBefore = before?.to === offset
    const joinsAfter = after?.from === offset + size
    if (joinsBefore && joinsAfter) {
      before.to = after.to
      this.#gaps.splice(at, 1)
    } else if (joinsBefore) before.to += size
    else if (joinsAfter) after.from = offset
    else this.#gaps.splice(at, 0, { from: offset, to: offset + size })
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment
}

function outOfMemory(bytes: number, gaps: readonly Gap[]): EvsysError {
  const largest = gaps.reduce((most, { from, to }) => Math.max(most, to - from), 0)
  const message = `the engine's memory has no room for ${bytes} bytes; ${largest} are free`
  const fix = 'use a smaller model or shorter batches, or give the engine more memory.'
  return new EvsysError('BACKEND_REFUSED', message, { cause: new OutOfMemory(), fix })
}

class OutOfMemory extends Error {}

/** Whether something failed since the arena was full: it may find room when other work has ended. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof OutOfMemory || (EvsysError.is(error) && isOutOfMemory(error.cause))
}
