// What the CPU engine computes on: an arena of memory and something that runs programs over it.
import type { EngineId } from '../../contracts/index.ts'
import type { Program } from './program.ts'

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
  /** Measured speed of large products, in 10^9 operations per second. */
  gflops(): number
}
