// What the CPU engine computes on: an arena of memory and something that runs programs over it.
import { performance } from 'node:perf_hooks'
import type { EngineId } from '../../contracts/index.ts'
import { type OpName, ops } from './ops.ts'
import { independentBit, type Program } from './program.ts'

/** Kernels with their threads and their memory. */
export interface Runtime extends AsyncDisposable {
  /** Equal ids give equal bytes. `kind` is `cpu-native` or `cpu-wasm`. */
  readonly id: EngineId
  /** Bytes of the arena. Memory is taken from the machine when it is first written. */
  readonly capacityBytes: number
  /** A part of the arena that stays until it is freed, 64-aligned; its content is undefined. Throws when the arena is full. */
  alloc(bytes: number): number
  free(offset: number): void
  /** Views over the arena from a byte offset. They stay valid until the runtime is closed. */
  f32(offset: number, length: number): Float32Array<ArrayBufferLike>
  f64(offset: number, length: number): Float64Array<ArrayBufferLike>
  i32(offset: number, length: number): Int32Array<ArrayBufferLike>
  bytes(offset: number, length: number): Uint8Array<ArrayBufferLike>
  /**
   * Runs all operations, with all threads, and returns when they have ended. The calling thread is one of them: it computes.
   * A program that names what is not there is refused whole. One that is lost in a kernel fails, and the next one runs; what it
   * should have written is undefined then. Both are `BACKEND_FAILED`.
   */
  run(program: Program): void
  readonly profile: Profile
  /** Measured speed of large products, in 10^9 operations per second. */
  gflops(): number
}

// Where the time of programs goes, by operation. While it is on, operations run one by one, so the whole takes a little longer.
/** How often an operation ran, and how long in all. */
type OpTime = { calls: number; ms: number }

interface Profile {
  /** Off unless set. */
  isOn: boolean
  /** What was measured so far, the longest first. */
  times(): readonly (readonly [OpName, Readonly<OpTime>])[]
  clear(): void
}

/** Measures programs that are handed over piece by piece: `run(from, length)` carries out those words. */
type Measuring = Profile & { measure(words: Int32Array, run: (from: number, length: number) => void): void }

const byCode = new Map<number, { name: string; args: object }>(
  Object.entries(ops).map(([name, { code, args }]) => [code, { name, args }]),
)

export function createProfile(): Measuring {
  const times = new Map<string, OpTime>()
  return {
    isOn: false,
    times: () => [...times].sort(([, a], [, b]) => b.ms - a.ms) as [OpName, OpTime][], // keys of the table
    clear: () => times.clear(),
    measure(words, run) {
      for (let at = 0; at < words.length; ) {
        const op = byCode.get((words[at] ?? 0) & (independentBit - 1)) // of a Program: it has no other codes
        const length = 1 + Object.keys(op?.args ?? {}).length
        const began = performance.now()
        run(at, length)
        const time = times.get(op?.name ?? '') ?? { calls: 0, ms: 0 }
        time.calls++
        time.ms += performance.now() - began
        times.set(op?.name ?? '', time)
        at += length
      }
    },
  }
}
